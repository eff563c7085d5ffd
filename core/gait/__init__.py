"""Locomotion: how bodies walk and run, and where they go."""
