"""The results of a run of evals as Markdown, for a pull request's comment.

What an agent, a test or a model said appears only inside code, where no renderer looks for
markup, links, mentions or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from seatrial.snapshot import Json, JsonObject
from seatrial.text import escape, one_line

__all__ = ["render_markdown"]

LIMIT = 60_000
"""Characters of a report; a comment on GitHub has room for 65,536."""

_ROWS_LIMIT = 30_000
_NAME_LIMIT = 200
_REASON_LIMIT = 2_000
_TRIALS_PER_CASE = 5

_VERDICTS = ("fail", "flaky", "error", "partial", "inconclusive", "pass")
_SHOWN = {"inconclusive": "UNJUDGED"}
_BAD_TRIALS = ("fail", "error")


def render_markdown(document: JsonObject) -> str:
    """A table of all cases, the worst first, then why trials failed.

    Args:
        document: A results document, as `results/<run_id>.json` holds it.

    Returns:
        At most `LIMIT` characters; what had to be left out is counted.
    """
    groups = sorted(_objects(document.get("aggregates")), key=_severity)
    passed = sum(group.get("verdict") == "pass" for group in groups)
    parts = ["# Kensa Eval Report\n", f"**{passed} of {len(groups)} cases passed**\n"]
    if document.get("complete") is not True:
        parts.append(f"**The run is incomplete:** {_code(_interruption(document))}\n")
    parts.append(_table(groups))
    parts.append(_failures(groups, document, LIMIT - sum(map(len, parts)) - 200))
    parts.append(f"Run {_code(_text(document.get('run_id')))}\n")
    return "\n".join(part for part in parts if part)


def _severity(group: JsonObject) -> tuple[int, str]:
    verdict = _text(group.get("verdict"))
    place = _VERDICTS.index(verdict) if verdict in _VERDICTS else len(_VERDICTS)
    return place, _text(group.get("group_id"))


def _interruption(document: JsonObject) -> str:
    interruption = document.get("interruption")
    return _text(interruption.get("message")) if isinstance(interruption, dict) else "unknown"


def _table(groups: list[JsonObject]) -> str:
    if not groups:
        return ""
    head = ["| Result | Case | Passed | Failed | Errors |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *_within(groups, _row, _ROWS_LIMIT, "| … | {} more | | | |")]) + "\n"


def _row(group: JsonObject) -> str:
    name = _code(one_line(_text(group.get("group_id")), limit=_NAME_LIMIT))
    passed = f"{_count(group, 'passed')}/{_count(group, 'total')}"
    return f"| {_verdict(group)} | {name} | {passed} | {_count(group, 'failed')} | {_count(group, 'errored')} |"


def _verdict(group: JsonObject) -> str:
    verdict = _text(group.get("verdict"))
    return _SHOWN.get(verdict, verdict.upper()) if verdict in _VERDICTS else "NOT RUN"


def _failures(groups: list[JsonObject], document: JsonObject, room: int) -> str:
    by_group: dict[str, list[JsonObject]] = {}
    for trial in _objects(document.get("trials")):
        if trial.get("status") in _BAD_TRIALS:
            by_group.setdefault(_text(trial.get("group_id")), []).append(trial)
    failed = [group for group in groups if _text(group.get("group_id")) in by_group]
    if not failed:
        return ""

    def section(group: JsonObject) -> str:
        return _failure(group, by_group[_text(group.get("group_id"))])

    listed = _within(failed, section, room, "{} more failed cases are not shown.\n")
    return "\n".join(["## Failures\n", *listed])


def _failure(group: JsonObject, trials: list[JsonObject]) -> str:
    name = _code(one_line(_text(group.get("group_id")), limit=_NAME_LIMIT))
    parts = [f"### {_verdict(group)} {name}\n"]
    for trial in trials[:_TRIALS_PER_CASE]:
        failure = trial.get("failure")
        failure = failure if isinstance(failure, dict) else {}
        whose = one_line(_text(failure.get("category")) or "unknown", limit=40)
        message = _text(failure.get("message")) or _text(trial.get("error")) or "no reason given"
        parts.append(
            f"Trial {_count(trial, 'trial_index')} of {_count(trial, 'configured_trials')},"
            f" owner {_code(whose)}:\n"
        )
        parts.append(f"{_fenced(message)}\n")
    if len(trials) > _TRIALS_PER_CASE:
        parts.append(f"{len(trials) - _TRIALS_PER_CASE} more trials are not shown.\n")
    return "\n".join(parts)


def _within(
    items: list[JsonObject], render: Callable[[JsonObject], str], room: int, more: str
) -> Iterable[str]:
    """The rendered items that fit into `room` characters, then `more` with the number left out."""
    for shown, item in enumerate(items):
        text = render(item)
        room -= len(text) + 1
        if room < 0:
            yield more.format(len(items) - shown)
            return
        yield text


def _code(text: str) -> str:
    """`text` as code on one line, whole in a table's cell too."""
    shown = one_line(text) or " "
    if shown != " " and not re.search(r"[`|\\]", shown):
        return f"`{shown}`"
    # Backslashes and bars mean different things to different renderers of tables; as character
    # references, punctuation means nothing but itself to all of them.
    escaped = re.sub(r"[^\w\s]|_", lambda found: f"&#{ord(found.group())};", shown)
    return f"<code>{escaped}</code>"


def _fenced(text: str) -> str:
    """`text` as a block of code that no line of it can close."""
    cut = text[:_REASON_LIMIT]
    shown = escape(cut) + ("…" if len(text) > len(cut) else "")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _objects(value: Json) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _count(row: JsonObject, key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0
