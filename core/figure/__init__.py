"""The built-in mannequin: proportions, skeleton and body."""
