"""Experiments as files for programs: the results as JSON, and the experiment itself as YAML, to run elsewhere."""
