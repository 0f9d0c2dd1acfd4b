"""Integrations of Forky into other libraries: each file is for one library, which no other file imports."""
