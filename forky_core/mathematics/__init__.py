"""Formulas in texts: which stretches between dollar signs are LaTeX, and what a browser draws of them."""
