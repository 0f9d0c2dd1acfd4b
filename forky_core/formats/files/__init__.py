"""Files of any size as importers see them: read member by member, value by value, and never trusted."""
