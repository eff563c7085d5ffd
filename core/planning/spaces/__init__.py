"""Configuration spaces, what collides in them, and random trees that find ways through them."""
