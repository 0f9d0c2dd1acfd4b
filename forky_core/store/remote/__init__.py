"""A store that a running Forky keeps: every call of the contract goes to its server over HTTP."""
