"""Expansion: one pytest item per trial, through pytest's own parametrization.

So ids, `-k`, `--lf`, `--deselect` and `--collect-only` see ordinary items on every pytest version.
"""

from __future__ import annotations

import hashlib

import pytest

from seatrial.errors import UsageError
from seatrial.plugin.faces import Face, TrialPlan, face_named, loaded_faces
from seatrial.plugin.keys import plan_key, planned_key
from seatrial.plugin.markers import closest_marker
from seatrial.text import escape

__all__ = ["refuse_unexpanded"]

_FIXTURE = "_seatrial_trial"


class _Slot:
    """One trial of a test's parametrization: the value of the parameter that we add."""

    def __init__(self, face: Face, plan: TrialPlan, mark: pytest.Mark, index: int) -> None:
        self.face = face.name
        self.plan = plan
        self.mark = mark
        self.index = index
        self.id = face.trial_id(index)


@pytest.fixture(name=_FIXTURE)
def _trial(request: pytest.FixtureRequest) -> None:
    """Carry the parameter that tells the trials of a test apart."""


# Last, so that the trial comes after every other parameter in the id, and its trials run together.
@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Add the trial to the parameters of a marked test."""
    definition = metafunc.definition
    asking = [
        (face, mark)
        for face in loaded_faces(metafunc.config)
        if (mark := definition.get_closest_marker(face.marker)) is not None
    ]
    if not asking:
        return
    if len(asking) > 1:
        names = " and ".join(f"@pytest.mark.{face.marker}" for face, _ in asking)
        raise _collection_error(metafunc, f"{names} cannot be on one test: choose one of them")
    face, mark = asking[0]
    try:
        plan = face.plan(mark)
    except UsageError as error:
        raise _collection_error(metafunc, str(error)) from error
    slots = [_Slot(face, plan, mark, index) for index in range(1, plan.trials + 1)]
    metafunc.fixturenames.append(_FIXTURE)
    metafunc.parametrize(_FIXTURE, slots, indirect=True, ids=[slot.id for slot in slots])


def _collection_error(metafunc: pytest.Metafunc, message: str) -> pytest.Collector.CollectError:
    return pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {message}")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give each trial its key, and keep its group on one worker under `--dist=loadgroup`."""
    callspec = getattr(item, "callspec", None)
    slot = callspec.params.get(_FIXTURE) if callspec is not None else None
    if not isinstance(slot, _Slot):
        return
    assert callspec is not None
    from seatrial.run import PlannedTrial  # starting pytest needs none
    from seatrial.trial import TrialKey

    case = _case_id(callspec.id, slot.id)
    test = escape(item.nodeid.removesuffix(f"[{callspec.id}]"), keep="")
    key = TrialKey(face=slot.face, test=test, case=case, index=slot.index, total=slot.plan.trials)
    name = f"{test.rpartition('::')[2]}[{callspec.id}]"
    face = face_named(item.config, slot.face)
    item.stash[planned_key] = PlannedTrial(
        nodeid=item.nodeid,
        key=key,
        name=name,
        policy=slot.plan.policy,
        harms=face.harms(item) if face is not None else (),
    )
    item.stash[plan_key] = slot.plan
    if slot.plan.timeout_s is not None:
        from seatrial.plugin.timeouts import limit_bodies  # most suites have no use for it

        limit_bodies(item.config)
    item.funcargs[_FIXTURE] = None  # type: ignore[attr-defined]  # it would be set up for each trial, to do nothing
    in_groups = getattr(item.config.option, "loadgroup", False)  # set in xdist's workers
    if in_groups and item.get_closest_marker("xdist_group") is None:
        group = hashlib.sha256(key.group.label.encode("utf-8", "backslashreplace")).hexdigest()
        item.add_marker(pytest.mark.xdist_group(f"seatrial-{group[:12]}"))


def _case_id(parameters: str, trial: str) -> str:
    """The id of the test's own parameters: pytest's joined id without the part that we added."""
    if parameters == trial:
        return ""
    if parameters.endswith(f"-{trial}"):
        return parameters[: -len(trial) - 1]
    # Another plugin parametrized after us; our part stands somewhere before its own.
    before, _, after = f"-{parameters}".rpartition(f"-{trial}-")
    return f"{before}-{after}".strip("-")


def refuse_unexpanded(item: pytest.Item) -> None:
    """Fail a marked item that could not be expanded; only that test fails.

    Raises:
        pytest.fail.Exception: Saying why.
    """
    planned = item.stash.get(planned_key, None)
    for face in loaded_faces(item.config):
        mark = closest_marker(item, face.marker)
        if mark is None:
            continue
        if planned is None:
            pytest.fail(_cannot_expand(item, face), pytrace=False)
        slot = item.callspec.params[_FIXTURE]  # type: ignore[attr-defined]  # planned items have one
        if slot.mark != mark:
            pytest.fail(
                f"{item.nodeid}: @pytest.mark.{face.marker} on a single parameter set has no effect"
                " on the number of trials; put it on the test function",
                pytrace=False,
            )


def _cannot_expand(item: pytest.Item, face: Face) -> str:
    if getattr(item, "callspec", None) is not None:
        return (
            f"{item.nodeid}: @pytest.mark.{face.marker} on a single parameter set cannot make"
            " trials; put it on the test function"
        )
    return (
        f"{item.nodeid}: @pytest.mark.{face.marker} needs a plain test function or method; a"
        f" {type(item).__name__} cannot be run as trials. Rewrite it as a pytest function"
    )
