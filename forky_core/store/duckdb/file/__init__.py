"""The database file: opening, checking, migrating, backing up, repairing; and what its errors mean."""
