"""What all stores in a database have in common; an engine adds its statements and its connection."""
