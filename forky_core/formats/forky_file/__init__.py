"""The Forky chat file: a conversation as JSON Lines that Git can keep and any program can read (docs/format.md).

lines.py turns each value into its line and back; writing.py and reading.py do whole conversations; adopting.py brings
a file into a workspace.
"""
