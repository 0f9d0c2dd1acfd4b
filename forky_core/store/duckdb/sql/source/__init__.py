"""The tables and every statement over them, in SQLAlchemy Core: what `make sql` compiles.

A name in capitals is a statement; a tuple of them is several. Importing this needs SQLAlchemy; Forky itself does not.
"""
