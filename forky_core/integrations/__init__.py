"""Forky inside other people's programs: each file is for one library, which only it imports."""
