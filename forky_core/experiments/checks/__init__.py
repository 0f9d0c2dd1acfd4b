"""What an answer can be checked for without a model: each kind is a function of the answer and a value."""
