"""What a model is asked for in a merge, and what of its answer is believed: each with its checks."""
