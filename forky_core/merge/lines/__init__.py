"""Which lines of a branch are worth keeping: cut, weighed and chosen by rules, without a model."""
