"""`python -m forky_core` and the console script `forky`."""

from __future__ import annotations

import sys

from forky_core.cli import parser
from forky_core.process import tune_process


def main() -> int:
    """Run the command line in this process, which is Forky's own."""
    tune_process()
    return parser.main()


if __name__ == "__main__":
    sys.exit(main())
