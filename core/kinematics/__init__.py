"""From joint rotations to places and back."""
