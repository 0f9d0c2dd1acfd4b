"""Claims of branches: finding them, comparing those of two branches, and settling their contradictions."""
