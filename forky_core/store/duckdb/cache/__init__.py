"""What is held in memory of the file, as the writer leaves it: none of it can go stale unseen."""
