"""Backups of a team's server, made while it runs, and putting one back."""
