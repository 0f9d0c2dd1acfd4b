"""The self-contained web page: one file that anybody can read, and from which the conversation can be
imported again.
"""
