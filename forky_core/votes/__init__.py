"""Votes on answers: what a poll and a vote are, and how they are counted.

Values and arithmetic only. A poll is opened, voted in and revealed by conversation/voting/.
"""
