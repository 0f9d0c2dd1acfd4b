"""What answers may quote: files read, cut into chunks, kept, and found again."""
