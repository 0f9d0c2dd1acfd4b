"""Experiments: a grid of questions and models whose cells are branches, with checks, judges and intervals.

An experiment is a value (model/experiment.py) in a conversation's view; what became of its cells is derived from their
branches (cells.py), so that undo, forks, a crash or another tab can never disagree with it.
"""
