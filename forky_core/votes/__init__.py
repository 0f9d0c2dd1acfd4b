"""Votes on answers: what a poll and a vote are, how they are counted, and ratings over many polls.

Values and arithmetic only. A poll is opened, voted in and revealed by conversation/voting/.
"""
