"""Showing a conversation to others: as a presentation that is stepped through, and as a replay of its history.

Both are documents of one file that load nothing. A server hands the same document out (gateway/presenting.py) that an
export writes (formats/exporting/writers/shown.py), so that nothing is drawn twice.
"""
