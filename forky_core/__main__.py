"""`python -m forky_core` and the console script `forky`."""

from __future__ import annotations

import sys

from forky_core.cli.parser import main

if __name__ == "__main__":
    sys.exit(main())
