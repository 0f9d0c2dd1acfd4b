"""What an operator can see: a log of fixed events, and counters for /metrics. Neither ever contains conversation text.

`events.py` is the vocabulary. Other packages call its functions and use nothing else of `logging`; each call is counted
by `counters.py` and, if its logger is enabled, logged. `log_setup.py` prepares the process of the app or the command
line. docs/observing.md is the operator's page.
"""
