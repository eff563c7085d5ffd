"""Improvised acting: layered actions composited on a puppet, and minds that choose them by script."""
