"""Checks of answers that need no model: each kind is a function of the answer and a value."""
