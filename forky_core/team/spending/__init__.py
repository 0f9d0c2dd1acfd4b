"""What the people of a team may spend: their keys, the models of each role, balances, limits, and who spent what."""
