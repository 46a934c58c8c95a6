"""What a face tells the engine: its marker, its ids, its policy and whose fault an error is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from seatrial.plugin.keys import faces_key
from seatrial.text import first_line, one_line

if TYPE_CHECKING:
    from seatrial.gate import Policy
    from seatrial.outcome import FailureOwner, Outcome
    from seatrial.scope import TrialScope
    from seatrial.snapshot import JsonObject
    from seatrial.trial import TrialRecord

__all__ = [
    "Face",
    "ResultReading",
    "TrialPlan",
    "face_named",
    "find_faces",
    "loaded_faces",
    "require_engine",
]


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """What a marker asks for.

    Attributes:
        trials: How often to run each case, at least 1.
        policy: The policy's parameters, as plain JSON, so that they can travel.
        concurrency: How many trials of the test may be in flight at once, 1 for never beside any
            other trial; None for as many as the session allows.
        timeout_s: How long the body of each trial may take, in seconds; None for as long as the
            session allows.
    """

    trials: int
    policy: JsonObject
    concurrency: int | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class ResultReading:
    """What a recorded safety result means to the engine."""

    outcome: Outcome
    message: str


class Face(ABC):
    """One of the packages that users write tests with."""

    name: str
    """The package's name; part of every trial key."""

    marker: str
    """The marker that makes trials of a test."""

    assertion_fails: bool
    """Whether a failed assertion is the agent's fail, whatever safety results were recorded."""

    words: Mapping[Outcome, str]
    """The face's own words for outcomes."""

    @abstractmethod
    def plan(self, mark: pytest.Mark) -> TrialPlan:
        """Read the marker.

        Raises:
            seatrial.errors.UsageError: If an argument is missing, unknown or out of range; the
                message gives the value and the range.
        """

    @abstractmethod
    def trial_id(self, index: int) -> str:
        """The id of a trial, from its 1-based index."""

    @abstractmethod
    def policy(self, parameters: Mapping[str, object]) -> Policy:
        """The policy with these parameters."""

    def read_result(self, document: JsonObject) -> ResultReading | None:
        """What a recorded result means, or None if it is not this face's."""
        return None

    def accepted_as(self, outcome: Outcome) -> str | None:
        """The word for a trial that did not pass but needs nobody's tolerance, if it is one."""
        return None

    def reason(self, record: TrialRecord) -> str:
        """Why a trial did not pass, in the face's words, on one line."""
        word = self.words[record.outcome]
        message = record.failure.message if record.failure is not None else ""
        return f"{word}: {one_line(first_line(message))}" if message else word

    def harms(self, item: pytest.Item) -> tuple[str, ...]:
        """Harm categories that the item is marked with."""
        return ()

    def adopts(self, item: pytest.Item, scope: TrialScope) -> bool:
        """Whether a test that was not expanded should leave a record of this face."""
        return False

    def check_plain_test(self, item: pytest.Item, scope: TrialScope) -> None:
        """Warn of what a test without trials recorded and its body, which passed, ignored."""
        return

    def fails_plain_test(self, config: pytest.Config, record: TrialRecord) -> bool:
        """Whether the record of a test without trials must fail it although its body passed."""
        return False

    def judges_disabled(self, config: pytest.Config) -> bool:
        """Whether no judge may call a model in this session."""
        return False

    def owner(self, error: BaseException) -> FailureOwner | None:
        """Whose fault an exception is, if its type tells."""
        return None

    def is_about_judge(self, error: BaseException) -> bool:
        """Whether a failed assertion is about the answer of a judge that could not answer."""
        return False


def require_engine(config: pytest.Config, face: str) -> None:
    """Stop a session in which a face is loaded and the engine's plugin is not.

    Raises:
        pytest.UsageError: Naming the options that agree with each other.
    """
    if not config.pluginmanager.hasplugin("seatrial"):
        raise pytest.UsageError(
            f"the plugin {face} needs the plugin seatrial: drop -p no:seatrial, or add -p no:{face}"
        )


def find_faces(config: pytest.Config) -> tuple[Face, ...]:
    """Ask the plugins for their faces."""
    return tuple(config.hook.pytest_seatrial_face(config=config))


def loaded_faces(config: pytest.Config) -> tuple[Face, ...]:
    """The faces that are loaded in this session."""
    return config.stash.get(faces_key, ())


def face_named(config: pytest.Config, name: str) -> Face | None:
    """The loaded face of that name."""
    for face in loaded_faces(config):
        if face.name == name:
            return face
    return None
