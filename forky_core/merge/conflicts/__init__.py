"""Conflicts between branches or answers: what they are, who finds them, and a person's choice."""
