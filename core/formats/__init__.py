"""Motion files."""
