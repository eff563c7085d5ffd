"""Ways through a scene: maps, routes, steering, sight and memory, sampling planners for arms and props."""
