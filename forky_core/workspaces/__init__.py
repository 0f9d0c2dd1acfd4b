"""Several workspaces on one team's server: each a file in one folder, opened when it is needed."""
