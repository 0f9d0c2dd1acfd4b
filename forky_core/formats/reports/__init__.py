"""Writes one thing of a conversation as a file for others: a comparison, an experiment, a poll, a merge or a replay.

A *thing* becomes a `Report` (report.py), a value of texts, tables and columns, and the report becomes a web page or a
Markdown text; the report of an experiment can also become a table. Private values are found and replaced in the report
(private_texts.py), so that all forms replace the same. included.py decides what the file contains beyond the words.
"""
