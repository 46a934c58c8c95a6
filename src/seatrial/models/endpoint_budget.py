"""How many attempts at an endpoint are in flight, and how often one starts, on the whole machine.

All who name the same folder and endpoint share one budget: tasks, threads and processes. Nothing
of it outlives a process that is killed: an attempt in flight is a file that its process keeps
locked (a slot), and the system unlocks it. What the endpoint's refusals taught lies in one more
file, which is read and written while it is locked.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import random
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import ModelConfigurationError
from seatrial.files import is_private_folder, make_private_folder
from seatrial.models.endpoint_limit import STATE_BYTES, EndpointState, parse
from seatrial.models.process_lock import LockedFile, try_lock

__all__ = ["EndpointBudget", "Turn"]

_FIRST_POLL_S = 0.035
_LONGEST_POLL_S = 0.25
_POLL_GROWTH = 1.5
_JITTER = 0.4  # a wait is up to that part shorter or longer, so that waiters part
_STATE_POLL_S = 0.001
_LEARN_S = 1.0
_FRESH_S = 3600.0
_FORGOTTEN_S = 24 * 3600.0


# By the folder of a budget: the slots that this process holds, at which there is no need to look.
_held: dict[Path, set[int]] = {}

if hasattr(os, "register_at_fork"):  # a fork has its parent's memory, but not its attempts
    os.register_at_fork(after_in_child=_held.clear)


class Turn:
    """One attempt at the endpoint, while it is in flight."""

    __slots__ = ("retry_after_s", "was_throttled")

    def __init__(self) -> None:
        self.was_throttled = False
        self.retry_after_s: float | None = None

    def throttled(self, retry_after_s: float | None = None) -> None:
        """Say that the endpoint refused the attempt for overload (HTTP 429, 503, 529).

        Args:
            retry_after_s: Seconds that it asked to wait, if it did. All callers of the endpoint
                wait so long, though never longer than a minute.
        """
        self.was_throttled = True
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class _Place:
    """A slot that is held, and what the shared state said then."""

    slot: LockedFile
    number: int
    starts_in_s: float
    shrinks: int
    is_limited: bool


class EndpointBudget:
    """The budget of one endpoint; instances in any number of threads and processes share it.

    Args:
        folder: Where budgets live; made if it does not exist. No other user may write to it.
        endpoint: Names the endpoint. Any text; only a hash of it is written.
        most_at_once: Attempts in flight, at most; from 1. What refusals teach is less.
        rate_per_s: Starts per second, above 0; they are spaced evenly, with no burst after a
            pause, and a start whose caller is cancelled while it waits is lost. None for any number.

    Raises:
        ModelConfigurationError: If a number is out of its range.
    """

    def __init__(
        self,
        folder: Path,
        endpoint: str,
        *,
        most_at_once: int = 32,
        rate_per_s: float | None = None,
    ) -> None:
        if most_at_once < 1:
            raise ModelConfigurationError(
                f"most_at_once={most_at_once!r}: expected a number of attempts, from 1"
            )
        if rate_per_s is not None and not (rate_per_s > 0 and math.isfinite(rate_per_s)):
            raise ModelConfigurationError(
                f"rate_per_s={rate_per_s!r}: expected starts per second, above 0"
            )
        name = hashlib.sha256(endpoint.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._folder = folder / name
        self._most_at_once = most_at_once
        self._interval_s = None if rate_per_s is None else 1 / rate_per_s

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Wait until an attempt may start; it counts as in flight while the block runs.

        Leaving the block counts as an answer and an exception as nothing, unless the turn was
        said to be throttled.

        Raises:
            ModelConfigurationError: If the folder cannot be written to, or can be by other users.
        """
        try:
            self._make_folder()
            place = await self._wait_for_place()
        except OSError as error:
            raise ModelConfigurationError(
                f"the budget of an endpoint cannot be kept in {self._folder}: {error}"
            ) from error
        turn = Turn()
        answered = False
        try:
            yield turn
            answered = True
        finally:
            # Shared before the slot is free: its next holder must know.
            try:
                if turn.was_throttled or (answered and place.is_limited):
                    await self._learn(turn, place)
            finally:
                self._free(place)

    def _make_folder(self) -> None:
        shared = make_private_folder(self._folder.parent)
        if not is_private_folder(shared):
            raise PermissionError(f"{shared} must be a folder that only this user can write to")
        try:
            self._folder.mkdir(mode=0o700)
        except FileExistsError:
            if time.time() - self._folder.stat().st_mtime > _FRESH_S:
                os.utime(self._folder)  # in use: nobody may take it for forgotten
        else:
            _remove_forgotten(shared)

    async def _wait_for_place(self) -> _Place:
        polls = _polls_s()
        while True:
            place = await self._try_place()
            if isinstance(place, float):
                await asyncio.sleep(place + next(polls))
            elif await self._reaches_its_start(place):
                return place

    async def _try_place(self) -> _Place | float:
        """A slot, or the seconds before which there is certainly none."""
        if len(self._held_here()) >= self._most_at_once:  # most of many waiters stop here
            return 0.0
        with await self._lock_state() as file:
            now = time.time()
            state = parse(file.read(STATE_BYTES)).current(now)
            if state.not_before > now:
                return state.not_before - now
            found = self._free_slot(state.limit_of(self._most_at_once))
            if found is None:
                return 0.0
            number, slot = found
            try:
                starts_in_s = self._reserve_start(file, state, now)
            except BaseException:
                slot.close()
                raise
        self._held_here().add(number)
        return _Place(slot, number, starts_in_s, state.shrinks, state.limit is not None)

    def _held_here(self) -> set[int]:
        return _held.setdefault(self._folder, set())

    def _free_slot(self, limit: int) -> tuple[int, LockedFile] | None:
        """A slot and its number if fewer than `limit` are in use; the state must be locked."""
        held = self._held_here()
        used = len(held)
        free = 0
        found: tuple[int, LockedFile] | None = None
        for number in range(self._most_at_once):
            if used >= limit or free > self._most_at_once - limit:
                break
            if number in held:
                continue
            slot = try_lock(self._folder / f"slot-{number}")
            if slot is None:
                used += 1
                continue
            free += 1
            if found is None:
                found = (number, slot)
            else:
                slot.close()
        if found is not None and used >= limit:
            found[1].close()
            return None
        return found

    def _reserve_start(self, file: LockedFile, state: EndpointState, now: float) -> float:
        """Seconds from now to the start of the next attempt, which nobody else gets."""
        if self._interval_s is None:
            return 0.0
        start, reserved = state.reserve(
            interval_s=self._interval_s, most_at_once=self._most_at_once, now=now
        )
        file.write(reserved.serialize())
        return start - now

    async def _reaches_its_start(self, place: _Place) -> bool:
        """Wait for the start that was reserved; False, without the slot, if it came to nothing."""
        if place.starts_in_s <= 0:
            return True
        may_start = False
        try:
            await asyncio.sleep(place.starts_in_s)
            with await self._lock_state() as file:
                now = time.time()
                state = parse(file.read(STATE_BYTES)).current(now)
            may_start = state.shrinks == place.shrinks and state.not_before <= now
        finally:
            if not may_start:
                self._free(place)
        return may_start

    async def _learn(self, turn: Turn, place: _Place) -> None:
        """Change the shared state by how an attempt ended."""
        # An answer is worth more than what it teaches, and a cancelled caller is not cancelled
        # twice: neither may hang on a process that was stopped while it had the lock.
        with suppress(OSError):
            async with asyncio.timeout(_LEARN_S):
                file = await self._lock_state()
            with file:
                now = time.time()
                state = parse(file.read(STATE_BYTES)).current(now)
                file.write(self._after(turn, place, state, now).serialize())

    def _after(self, turn: Turn, place: _Place, state: EndpointState, now: float) -> EndpointState:
        if not turn.was_throttled:
            return state.answered(under=place.shrinks, most_at_once=self._most_at_once, now=now)
        return state.refused(
            under=place.shrinks,
            retry_after_s=turn.retry_after_s,
            most_at_once=self._most_at_once,
            now=now,
        )

    async def _lock_state(self) -> LockedFile:
        path = self._folder / "state"
        while (file := try_lock(path)) is None:  # noqa: ASYNC110 - the holder may be another process
            await asyncio.sleep(_around(_STATE_POLL_S))
        return file

    def _free(self, place: _Place) -> None:
        place.slot.close()
        self._held_here().discard(place.number)


def _remove_forgotten(shared: Path) -> None:
    """Remove the folders of endpoints that nobody has asked for a day: test servers come and go."""
    now = time.time()
    for folder in shared.iterdir():
        with suppress(OSError):
            if now - folder.stat().st_mtime > _FORGOTTEN_S:
                shutil.rmtree(folder, ignore_errors=True)


def _polls_s() -> Iterator[float]:
    """Seconds to wait between looks, longer from one to the next."""
    poll_s = _FIRST_POLL_S
    while True:
        yield _around(poll_s)
        poll_s = min(poll_s * _POLL_GROWTH, _LONGEST_POLL_S)


def _around(seconds: float) -> float:
    return seconds * random.uniform(1 - _JITTER, 1 + _JITTER)
