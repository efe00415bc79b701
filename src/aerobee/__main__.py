"""`python -m aerobee`: the command `aerobee`, run by the Python that is named.

For a machine where the package is installed and its command is not on the PATH. Importing this
module starts nothing: processes that multiprocessing spawns, and tools that walk over packages,
import it too.
"""

import sys

from aerobee.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
