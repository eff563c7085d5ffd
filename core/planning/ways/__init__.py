"""The map of a scene, and ways over it: exact search, corners, fields for many, lines of sight."""
