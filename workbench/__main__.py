"""``python -m workbench``."""

import os
import sys

if not sys.flags.safe_path:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.path[:1] == [os.getcwd()] != [here]:  # -m puts it first: what is imported later would come from there
        del sys.path[0]

from workbench.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
