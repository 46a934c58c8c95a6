"""Which model to ask, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seatrial.models.choice import ModelChoice

__all__ = ["LLMConfig"]


@dataclass(frozen=True, kw_only=True)
class LLMConfig:
    """Where a model is served; nothing is looked at before it is asked.

    Attributes:
        model: The model's name; "local" for the embedded one, with the same as `endpoint`.
        endpoint: URL of the server, such as "http://127.0.0.1:11434/v1".
        api_key: Left out of the repr, so that it reaches no log. Without it, the provider's own
            variable counts where `seatrial.models.choose_endpoint` says so.
        deployment: The provider's name for the deployment, where it differs from the model's.
        metadata: Settings for requests, such as temperature. Shown in the repr: no place for secrets.
    """

    model: str
    endpoint: str
    api_key: str | None = field(default=None, repr=False)
    deployment: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def choice(self) -> ModelChoice:
        """The same for `seatrial.models`, and for the models of a `Panel`.

        Raises:
            ModelConfigurationError: If model or endpoint is empty, the endpoint is no URL, or a
                setting in `metadata` is unknown or out of range.
        """
        from seatrial.models.endpoint import choose_endpoint

        return choose_endpoint(
            model=self.model,
            endpoint=self.endpoint,
            api_key=self.api_key,
            deployment=self.deployment,
            metadata=self.metadata,
        )
