"""The one database file: open, whole, migrated, backed up; and what its errors mean."""
