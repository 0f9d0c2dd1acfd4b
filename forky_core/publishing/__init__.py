"""Giving away one thing of a conversation: a comparison, an experiment, a poll, a merge or a replay.

A *thing* becomes a `Report` (report.py), a value of texts, tables and columns; a *form* writes a report as a file. Five
and five are ten pieces of code and not twenty-five, and a new one of either kind is an entry of registry.py. What
looks private is found in the report and replaced there (private_texts.py), so that every form is given the same. A
form that is a page can also stand at the address of a link, which expires and can be revoked (links/). What goes
along beyond the words is said by included.py.
"""
