"""``python -m pyengine.cli``: the command where no script is installed."""

import sys

from pyengine.cli import main

sys.exit(main())
