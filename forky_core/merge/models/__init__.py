"""Prompts to models in a merge, and the checks of their answers."""
