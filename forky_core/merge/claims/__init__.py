"""What branches claim, so that two of them can be set against each other and a person can settle what differs."""
