"""``python -m pyengine``: the command line."""

import sys

from pyengine.cli import main

sys.exit(main())
