"""Recording other programs' calls: message arrays are matched, stored and answered, possibly from stored answers."""
