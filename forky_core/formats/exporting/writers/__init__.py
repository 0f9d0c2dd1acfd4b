"""One file for each export format; ../exporting.py has the contract."""
