"""`python -m forky_core` and the console script `forky`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line in this process, which is Forky's own."""
    try:
        # Loading takes a moment, in which Ctrl+C is pressed as well.
        from forky_core.cli import parser  # noqa: PLC0415
        from forky_core.llm.process_tuning import tune_process  # noqa: PLC0415
    except KeyboardInterrupt:
        return 130
    tune_process()
    return parser.main()


if __name__ == "__main__":
    sys.exit(main())
