"""`python -m kensa` is the command `kensa`."""

from __future__ import annotations

import sys

from kensa.cli.tree import main

sys.exit(main())
