"""Models that need no key and no network: every page works on a fresh machine."""
