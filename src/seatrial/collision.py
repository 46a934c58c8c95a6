"""Other distributions that own a package of ours."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

__all__ = ["colliding_distributions"]

_OUR_PACKAGES = ("rampart", "kensa")


def colliding_distributions() -> list[str]:
    """Names of installed PyPI projects whose packages overwrite, or are overwritten by, ours.

    Looks the names up one by one; it does not scan what is installed.
    """
    return [name for name in _OUR_PACKAGES if _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
