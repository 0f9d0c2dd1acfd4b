"""What the model sees: one builder, its account, and the normaliser every request passes through (law 7)."""
