"""What a note of a branch tells: its messages cut into passages, weighed, and set under the headings of a note."""
