"""A question becomes a reply: asked, prepared, written by a job, ended (laws 1, 6 and 7)."""
