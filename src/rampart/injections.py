"""Payloads put in place for an execution, all ready before the agent is spoken to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack

from rampart.core.errors import InfrastructureError
from rampart.core.evidence import Evidence
from rampart.core.injection import InjectionHandle
from rampart.core.result import InjectionRecord
from rampart.core.timeouts import Timeouts, within
from rampart.turns import NotingExit

__all__ = ["as_handles", "put_in_place"]


def as_handles(
    inject: InjectionHandle | Sequence[InjectionHandle] | None,
) -> tuple[InjectionHandle, ...]:
    """The handles that an `inject` argument stands for.

    Raises:
        TypeError: If it is none, or a list with something else in it.
    """
    if inject is None:
        return ()
    handles = tuple(inject) if isinstance(inject, Sequence) else (inject,)
    for handle in handles:
        if not _is_handle(handle):
            raise TypeError(
                "inject takes an InjectionHandle, as surface.inject(payload=...) returns it, "
                f"or a list of them, not {handle!r}"
            )
    return handles


async def put_in_place(
    handles: Sequence[InjectionHandle],
    cleanup: AsyncExitStack,
    evidence: Evidence,
    timeouts: Timeouts,
) -> None:
    """Enter the handles in order, wait until all are ready; `cleanup` leaves them in reverse."""
    for handle in handles:
        name = handle.surface_name
        await within(timeouts.inject, handle.__aenter__(), f"surface {name}: injecting")
        leave = NotingExit(handle, "surface", evidence, timeouts.cleanup)
        cleanup.push_async_exit(leave)
        record = InjectionRecord(payload_id=handle.payload_id, surface_name=handle.surface_name)
        leave.name = f"surface {record.surface_name}"
        evidence.injections.append(record)
    if handles:
        await _all_ready(handles, evidence, timeouts)


async def _all_ready(
    handles: Iterable[InjectionHandle], evidence: Evidence, timeouts: Timeouts
) -> None:
    """Wait for all handles at once; the first failure ends the waiting and is raised as it is."""

    async def wait_for(handle: InjectionHandle) -> None:
        name = f"surface {handle.surface_name}"
        try:
            await within(timeouts.ready, handle.wait_until_ready(), f"{name}: becoming ready")
        except Exception:
            evidence.notes.append(f"{name}: not ready")
            raise

    try:
        async with asyncio.TaskGroup() as group:
            waits = [group.create_task(wait_for(handle)) for handle in handles]
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
    if any(wait.cancelled() for wait in waits):
        raise InfrastructureError("a surface cancelled its own wait_until_ready")


def _is_handle(value: object) -> bool:
    # Not isinstance: with a runtime protocol it would run the handle's properties.
    kind = type(value)
    return all(hasattr(kind, name) for name in ("__aenter__", "__aexit__")) and callable(
        getattr(value, "wait_until_ready", None)
    )
