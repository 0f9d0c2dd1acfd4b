"""The ways in which the people of a team prove who they are, a file each (contract.py)."""
