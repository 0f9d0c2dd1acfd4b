"""Merging: options → inputs → lines → block → plan, each step a value that can be inspected (laws 3 and 8).

Begin at `planner.plan_merge`: from `MergeInputs` (two heads and the conversation around them) and `MergeOptions` (a
person's choices) a strategy makes a `MergePlan`. `incoming_changes` finds what the target lacks, `attribution` finds
the original messages, `block` writes and parses payloads. Then, a folder each: the content of a branch's note (note/),
conflicts between branches (conflicts/), and notes that a model writes and another one verifies (written/).
"""
