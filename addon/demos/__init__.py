"""One file a feature: `build(context)` makes a scene from nothing and runs the feature's operator."""
