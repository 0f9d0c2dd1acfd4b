"""Notes that a model writes about a branch: asked for, checked, verified, and landed in the writer's own words."""
