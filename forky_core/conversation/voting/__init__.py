"""Votes on answers: polls and votes as values, how they are counted, and the verbs that open and reveal a poll."""
