"""Functions that read rows of the file as messages, paths and hits; and the check of all rows."""
