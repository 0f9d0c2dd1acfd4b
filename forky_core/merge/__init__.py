"""Merging: plan → payload → one message, each step a value that can be looked at (laws 3 and 8).

Begin at `planner.plan_merge`: from a `Place` (two heads and the conversation around them) and a `Wish` (what a person
chose) a strategy makes a `MergePlan`. `incoming` says what the target lacks, `wording` how a payload speaks. Then, a
folder each: which lines are worth keeping (lines/), what branches claim against each other (claims/), and what a model
is asked and believed (models/).
"""
