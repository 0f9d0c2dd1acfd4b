"""What is run on a real cluster, by hand: `make test` has no cluster (docs/postgresql.md, "A cluster")."""
