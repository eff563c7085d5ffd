"""Tasks of arms and hands: grasps, reaching, carrying, and where to stand for them."""
