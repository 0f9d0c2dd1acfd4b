"""Plain tables for whoever analyses conversations with SQL, wherever the conversations are kept."""
