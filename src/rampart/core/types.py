"""What passes between a test, the agent under test and the evaluators.

`ToolCall`, `SideEffect` and `Response` are filled by adapters and stay open to them; everything
else is frozen once made.
"""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rampart.core.manifest import AppManifest

__all__ = [
    "Channel",
    "EvalContext",
    "EvalOutcome",
    "EvalResult",
    "ObservabilityLevel",
    "Payload",
    "PayloadFormat",
    "Request",
    "Response",
    "SideEffect",
    "ToolCall",
    "TranscriptScope",
    "Turn",
]


class Channel(StrEnum):
    """A kind of evidence about the agent; the value is how a summary names it."""

    TEXT = "text"
    TOOL_CALLS = "tool calls"
    SIDE_EFFECTS = "side effects"


class ObservabilityLevel(Enum):
    """Which channels an adapter can see. An unseen channel is unknown, never empty."""

    TOOL_AND_SIDE_EFFECTS = "tool_and_side_effects"
    TOOL_ONLY = "tool_only"
    RESPONSE_ONLY = "response_only"

    @property
    def channels(self) -> frozenset[Channel]:
        """The channels in which silence means that nothing happened."""
        return _CHANNELS[self]


_CHANNELS = {
    ObservabilityLevel.RESPONSE_ONLY: frozenset({Channel.TEXT}),
    ObservabilityLevel.TOOL_ONLY: frozenset({Channel.TEXT, Channel.TOOL_CALLS}),
    ObservabilityLevel.TOOL_AND_SIDE_EFFECTS: frozenset(Channel),
}


class EvalOutcome(Enum):
    """What an evaluator found; whether that is good or bad is the execution's to say."""

    DETECTED = "detected"
    NOT_DETECTED = "not_detected"
    UNDETERMINED = "undetermined"


class TranscriptScope(Enum):
    """How much of a conversation's text counts."""

    FULL = "full"
    CURRENT_TURN = "current_turn"


class PayloadFormat(Enum):
    """What a payload is delivered as."""

    TEXT = "text"
    HTML = "html"
    MARKDOWN = "markdown"
    IMAGE = "image"
    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    AUDIO = "audio"

    @property
    def is_text(self) -> bool:
        """Whether the payload is its `content`; all others are a file beside it."""
        return self in _TEXT_FORMATS

    @property
    def is_binary(self) -> bool:
        """Whether the payload is a file, its `artifact`."""
        return not self.is_text

    @property
    def extension(self) -> str:
        """Usual end of a file name, with its dot."""
        return _EXTENSIONS[self]


_TEXT_FORMATS = frozenset({PayloadFormat.TEXT, PayloadFormat.HTML, PayloadFormat.MARKDOWN})

_EXTENSIONS = {
    PayloadFormat.TEXT: ".txt",
    PayloadFormat.HTML: ".html",
    PayloadFormat.MARKDOWN: ".md",
    PayloadFormat.IMAGE: ".png",
    PayloadFormat.PDF: ".pdf",
    PayloadFormat.DOCX: ".docx",
    PayloadFormat.XLSX: ".xlsx",
    PayloadFormat.AUDIO: ".wav",
}

_SHOWN_CONTENT = 200


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Content that reaches the agent by another way than its user's words.

    Attributes:
        content: The text; for a binary format, the text that the artifact was made from.
        id: Names the payload in results; 12 random hex digits unless given.
        artifact: The file of a binary format; text formats have none.

    Raises:
        TypeError: If format or artifact is of the wrong kind, or they do not go together.
        FileNotFoundError: If the artifact does not exist, or is not a file.
    """

    content: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    format: PayloadFormat = PayloadFormat.TEXT
    artifact: Path | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.format, PayloadFormat):
            raise TypeError(f"payload format must be a PayloadFormat, not {self.format!r}")
        if self.artifact is not None and not isinstance(self.artifact, Path):
            raise TypeError(f"payload artifact must be a pathlib.Path, not {self.artifact!r}")
        if self.format.is_binary and self.artifact is None:
            raise TypeError(f"a payload of format {self.format.value!r} requires an artifact")
        if self.format.is_text and self.artifact is not None:
            raise TypeError(
                f"a payload of format {self.format.value!r} is its content: "
                f"artifact must be None, not {self.artifact}"
            )
        if self.artifact is not None and not self.artifact.is_file():
            raise FileNotFoundError(
                f"payload artifact {self.artifact} does not exist, or is not a file"
            )

    @classmethod
    def recorded(
        cls,
        *,
        content: str,
        id: str,  # noqa: A002 - the field's public name
        format: PayloadFormat,  # noqa: A002 - the field's public name
        artifact: Path | None,
        metadata: dict[str, Any],
    ) -> Payload:
        """A payload read back from a record: its file may be gone, or on another machine."""
        payload = object.__new__(cls)
        for name, value in (
            ("content", content),
            ("id", id),
            ("format", format),
            ("artifact", artifact),
            ("metadata", metadata),
        ):
            object.__setattr__(payload, name, value)
        return payload

    def __str__(self) -> str:
        """The content's first 200 characters."""
        if len(self.content) <= _SHOWN_CONTENT:
            return self.content
        return f"{self.content[:_SHOWN_CONTENT]}..."


@dataclass(kw_only=True)
class ToolCall:
    """One tool that the agent called, as the adapter saw it."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    result: str | None = None
    timestamp: datetime | None = None


@dataclass(kw_only=True)
class SideEffect:
    """One change in the world that the agent caused, such as a sent e-mail."""

    kind: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class Response:
    """What the agent answered to one request, and what it was seen to do.

    An empty list is the absence of an observation. Whether that proves anything is the adapter's
    `ObservabilityLevel` to say.
    """

    text: str
    tool_calls: list[ToolCall] = field(default_factory=list)
    side_effects: list[SideEffect] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is sent to the agent in one turn.

    Raises:
        ValueError: If there is neither a prompt nor an attachment. An empty prompt is one.
    """

    prompt: str | None = None
    attachments: list[Payload] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.prompt is None and not self.attachments:
            raise ValueError("a request needs at least a prompt or an attachment")


@dataclass(frozen=True, kw_only=True)
class EvalResult:
    """What an evaluator found in a conversation.

    Attributes:
        confidence: How sure the evaluator is, in [0, 1].
        evidence: What it saw, each on its own; a summary shows the first few.
        rationale: Why it came to its outcome.
        unseen: Channels that the outcome depends on and that nobody could see. No claim of
            safety rests on a result that has any.

    Raises:
        ValueError: If the confidence is outside [0, 1].
    """

    outcome: EvalOutcome
    confidence: float = 1.0
    evidence: list[str] = field(default_factory=list)
    rationale: str = ""
    unseen: frozenset[Channel] = frozenset()

    def __post_init__(self) -> None:
        if not isinstance(self.outcome, EvalOutcome):
            raise TypeError(f"an outcome must be an EvalOutcome, not {self.outcome!r}")
        if not (math.isfinite(self.confidence) and 0 <= self.confidence <= 1):
            raise ValueError(f"a confidence must be in [0, 1], not {self.confidence!r}")

    @property
    def detected(self) -> bool:
        """Whether the outcome is DETECTED; UNDETERMINED is not."""
        return self.outcome is EvalOutcome.DETECTED


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One request and its response.

    Attributes:
        eval_result: None until evaluated; stays None if the evaluator broke on this turn.
        turn_number: 0-based.
        timestamp: When the response arrived, in UTC; None in turns made by hand.
        driver_reasoning: Why the driver sent this request, if it said so.
        session_number: Which of the execution's sessions it belongs to, from 0.
        send_seconds: How long the agent took to answer; None in turns made by hand.
        evaluate_seconds: How long the evaluator took.
    """

    request: Request
    response: Response
    eval_result: EvalResult | None = None
    turn_number: int = 0
    timestamp: datetime | None = None
    driver_reasoning: str = ""
    session_number: int = 0
    send_seconds: float | None = None
    evaluate_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class EvalContext:
    """What an evaluator gets to see.

    Attributes:
        turns: The conversation so far, oldest first.
        manifest: What the agent is said to be able to do.
        observability: What the adapter can see; None if unknown, and then all is taken as seen.
        scope: Whether text counts from the current turn only, or from the whole conversation.
    """

    turns: list[Turn]
    manifest: AppManifest | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    observability: ObservabilityLevel | None = None
    scope: TranscriptScope = TranscriptScope.CURRENT_TURN

    @classmethod
    def from_response(
        cls, *, response: Response, prompt: str = "", manifest: AppManifest | None = None
    ) -> EvalContext:
        """The context of a conversation of one turn."""
        turn = Turn(request=Request(prompt=prompt), response=response)
        return cls(turns=[turn], manifest=manifest)

    @property
    def current_turn(self) -> Turn:
        """The newest turn.

        Raises:
            ValueError: If there is no turn yet.
        """
        if not self.turns:
            raise ValueError("No turns in this context")
        return self.turns[-1]

    @property
    def text(self) -> str:
        """The response text of the current turn."""
        return self.current_turn.response.text

    @property
    def texts(self) -> list[str]:
        """The response texts that `scope` admits, oldest first; there is at least one."""
        current = self.text
        if self.scope is TranscriptScope.CURRENT_TURN:
            return [current]
        return [turn.response.text for turn in self.turns]

    @property
    def all_tool_calls(self) -> list[ToolCall]:
        """The tool calls of all turns, in order."""
        return [call for turn in self.turns for call in turn.response.tool_calls]

    @property
    def all_side_effects(self) -> list[SideEffect]:
        """The side effects of all turns, in order."""
        return [effect for turn in self.turns for effect in turn.response.side_effects]

    def sees(self, channel: Channel) -> bool:
        """Whether silence in `channel` means that nothing happened there."""
        return self.observability is None or channel in self.observability.channels

    def has_observed(self, channel: Channel) -> bool:
        """Whether anything at all was reported in `channel`."""
        if channel is Channel.TOOL_CALLS:
            return bool(self.all_tool_calls)
        if channel is Channel.SIDE_EFFECTS:
            return bool(self.all_side_effects)
        return bool(self.turns)
