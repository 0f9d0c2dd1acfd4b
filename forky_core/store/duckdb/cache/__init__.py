"""What is cached of the file. The writer updates it, so it never goes stale."""
