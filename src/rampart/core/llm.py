"""Which model to ask, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["LLMConfig"]


@dataclass(frozen=True, kw_only=True)
class LLMConfig:
    """Where a model is served.

    Attributes:
        api_key: Left out of the repr, so that it reaches no log.
        deployment: The provider's name for the deployment, where it differs from the model's.
        metadata: Settings for requests, such as temperature. Shown in the repr: no place for secrets.
    """

    model: str
    endpoint: str
    api_key: str | None = field(default=None, repr=False)
    deployment: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
