"""The command line: one file a command, each a function over an open workspace. Output goes to a stream it is given."""
