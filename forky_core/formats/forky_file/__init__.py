"""The Forky chat file: a conversation as JSON Lines that Git can store and any program can read (docs/format.md).

lines.py turns each value into its line and back; writing.py and reading.py do whole conversations; adopting.py imports
a file into a workspace.
"""
