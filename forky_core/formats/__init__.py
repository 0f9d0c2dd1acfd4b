"""Conversations as files: importing other programs' exports as trees, exporting, and our own file format (law 2).

contract.py defines an importer; `importing/readers/` holds one file for each format; tree.py is the one place where a
source's nodes become messages, whatever is wrong with their pointers.
"""
