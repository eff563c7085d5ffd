"""The animation engine: what an actor was told to do, as poses of a skeleton that stands on its feet."""
