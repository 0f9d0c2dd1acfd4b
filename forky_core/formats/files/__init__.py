"""Reading files of any size for importers: member by member, value by value, without trusting them."""
