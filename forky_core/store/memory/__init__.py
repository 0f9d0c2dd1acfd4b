"""The store that keeps conversations in memory; the tests compare every other store with it."""
