"""What models have answered in place of a summary: one file a case, each about the branch of `transcript.json`.

`answers` are what the model says, the first time and when asked to mend it; `ends` how a call breaks off. `checks` are
the failures that the person is shown; `shows` is a piece of a sentence or of what failed; none where it is accepted.
"""
