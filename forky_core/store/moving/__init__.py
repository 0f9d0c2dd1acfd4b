"""All of a workspace, copied from one store to another with every id it has."""
