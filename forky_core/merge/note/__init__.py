"""The content of a branch's note: its messages cut into passages, ranked, and arranged under the headings of a note."""
