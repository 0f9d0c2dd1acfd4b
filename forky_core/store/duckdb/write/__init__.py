"""The one thread that writes: groups of commits decided in memory and made durable together."""
