"""`python -m fuzz` is `python fuzz/run.py`."""

import sys

from fuzz.run import main

sys.exit(main())
