"""Links: addresses of this server, `/s/…`, at which whoever is given one reads one thing without signing in.

`link.py` is the value, `shared_part.py` cuts what is shared out of
a conversation, `content.py` draws it, `links.py` stores, finds, counts and revokes links, and `forking.py` brings what
a link shows into a workspace.
"""
