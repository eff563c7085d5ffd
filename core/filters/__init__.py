"""Functions from a motion to a changed motion."""
