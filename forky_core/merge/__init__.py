"""Merging: options → inputs → claims or lines → block → plan, each step a value that can be looked at (laws 3 and 8).

Begin at `planner.plan_merge`: from `MergeInputs` (two heads and the conversation around them) and `MergeOptions` (what
a person chose) a strategy makes a `MergePlan`. `incoming_changes` says what the target lacks, `attribution` who said it
first, `block` how a payload is written and read back. Then, a folder each: what a note of a branch tells (note/), what
branches claim against each other (claims/), and what a model is asked and believed (models/).
"""
