"""An import: looked through, landed conversation by conversation with its account, taken back."""
