"""Settings of all property tests: no example fails for being slow on a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("seatrial", deadline=None)
settings.load_profile("seatrial")
