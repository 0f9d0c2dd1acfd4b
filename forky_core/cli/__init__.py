"""The command line. Each command is a file with a function that takes an open workspace and an output stream."""
