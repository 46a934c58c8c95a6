"""`python -m seatrial` is the command `seatrial`."""

from __future__ import annotations

import sys

from seatrial.cli.tree import main

sys.exit(main())
