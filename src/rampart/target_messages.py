"""Messages as PyRIT's targets take and give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seatrial.errors import MissingExtraError, ModelProviderError

__all__ = ["Piece", "TargetMessage", "message_for", "text_of"]

_JSON = {"response_format": "json"}
"""What asks those of PyRIT's targets for JSON that know how to insist on it."""


@dataclass(slots=True, kw_only=True)
class Piece:
    """One piece of a message, with the fields that PyRIT's has too."""

    converted_value: str
    original_value: str
    role: str
    conversation_id: str
    converted_value_data_type: str = "text"
    original_value_data_type: str = "text"
    response_error: str = "none"
    prompt_metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class TargetMessage:
    """A message for targets that only have PyRIT's shape."""

    message_pieces: list[Piece]

    def get_value(self, n: int = 0) -> str:
        """The text of a piece, counted from 0."""
        return self.message_pieces[n].converted_value


def message_for(target: object, text: str, conversation_id: str) -> Any:
    """A message from the user; PyRIT's own for what derives from its classes.

    Raises:
        MissingExtraError: If the target is PyRIT's and PyRIT cannot be imported.
    """
    if not any(base.__module__.partition(".")[0] == "pyrit" for base in type(target).__mro__):
        piece = Piece(
            converted_value=text,
            original_value=text,
            role="user",
            conversation_id=conversation_id,
            prompt_metadata=dict(_JSON),
        )
        return TargetMessage([piece])
    try:
        from pyrit.models import MessagePiece
    except ImportError as error:
        raise MissingExtraError("pyrit", f"the target {type(target).__name__}") from error
    return MessagePiece(
        role="user",
        original_value=text,
        conversation_id=conversation_id,
        prompt_metadata=dict(_JSON),
    ).to_message()


def text_of(reply: object, name: str) -> str:
    """The text of a target's reply.

    Raises:
        ModelProviderError: If it has none, or says that there was an error.
    """
    if isinstance(reply, (list, tuple)):
        reply = reply[-1] if reply else None
    pieces = getattr(reply, "message_pieces", None)
    if reply is None or pieces == []:
        raise ModelProviderError(f"{name} answered with nothing", kind="empty")
    if not isinstance(pieces, (list, tuple)):
        raise ModelProviderError(
            f"{name} answered with a {type(reply).__name__}, which has no message_pieces",
            kind="unusable",
        )
    texts = []
    for piece in pieces:
        error = getattr(piece, "response_error", "none")
        if error != "none":
            kind = {"blocked": "refused", "empty": "empty"}.get(error, "unusable")
            raise ModelProviderError(f"{name} answered with the error {error!r}", kind=kind)
        value = getattr(piece, "converted_value", None)
        if getattr(piece, "converted_value_data_type", "text") == "text" and isinstance(value, str):
            texts.append(value)
    return "".join(texts)
