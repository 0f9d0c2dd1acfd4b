"""Replies: asking, preparing the request, writing the answer in a job, ending it (laws 1, 6 and 7)."""
