"""MergeBench measures what a merge makes of a side branch: what it keeps, and whether what it says is true.

A merge is a function of three arguments that returns the text which stands for the branch from then on:

    def merge(trunk: Sequence[Turn], side: Sequence[Turn], budget: int) -> str: ...

`trunk` is what the reader of the text knows already, `side` is what was said on the branch, and `budget` is the number
of tokens (`forky_core.llm.tokens.estimate_tokens`) that the text may take. Summaries, compactions and hand-offs of
other programs have the same shape: `python -m bench.mergebench --method package.module:function` adds one as a row.
A method that belongs to this repository is one line of `METHODS` in methods.py.

docs/mergebench.md says what each column means, where its data comes from, and what the numbers are today.
"""
