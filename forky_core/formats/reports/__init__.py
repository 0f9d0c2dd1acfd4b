"""Giving away one thing of a conversation: a comparison, an experiment, a poll, a merge or a replay.

A *thing* becomes a `Report` (report.py), a value of texts, tables and columns, and the report becomes one web page or
one Markdown text; that of an experiment also a table. What looks private is found in the report and replaced there
(private_texts.py), so that every file is given the same. What goes along beyond the words is said by included.py.
"""
