"""Run the command with ``python -m pyengine.cli``."""

import sys

from pyengine.cli import main

sys.exit(main())
