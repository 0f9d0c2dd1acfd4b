"""Conversations as files: other programs' exports read into trees, and our own file format (law 2).

contract.py says what an importer is; `importing/readers/` holds one file for each format; tree.py is the one place
where a source's nodes become messages, whatever was wrong with their pointers.
"""
