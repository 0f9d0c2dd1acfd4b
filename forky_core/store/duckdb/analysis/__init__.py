"""Views for whoever analyses a database with SQL, and copies of what they show."""
