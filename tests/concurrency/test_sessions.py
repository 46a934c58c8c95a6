"""That comparing sessions finds what differs, and what they leave behind."""

from __future__ import annotations

import logging
import re

import pytest

from .sessions import Parity, Sessions

DIFFERENCES = {
    "output": "print(os.environ['TRIALS_IN_FLIGHT'])",
    "outcome": "assert os.environ['TRIALS_IN_FLIGHT'] == '1'",
    "log": "logging.getLogger('suite').warning(os.environ['TRIALS_IN_FLIGHT'])",
    "warning": "warnings.warn(os.environ['TRIALS_IN_FLIGHT'], stacklevel=1)",
    "result": "record('safe', os.environ['TRIALS_IN_FLIGHT'])",
    "span": "record_tool_call(os.environ['TRIALS_IN_FLIGHT']).__enter__()",
    "event": "event(os.environ['TRIALS_IN_FLIGHT'])",
    "property": "request.node.user_properties.append(('n', os.environ['TRIALS_IN_FLIGHT']))",
    "skip": "pytest.skip(os.environ['TRIALS_IN_FLIGHT'])",
    "tear-down": "request.addfinalizer(lambda: print(os.environ['TRIALS_IN_FLIGHT']))",
}


@pytest.mark.parametrize("body", DIFFERENCES.values(), ids=DIFFERENCES)
def test_whatever_differs_is_found(parity: Parity, body: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="one at a time\n\\+\\+\\+ together"):
        parity(
            f"""
            @pytest.mark.trial(n=1)
            def test_it(request): {body}
            """
        )


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("os.environ['LEFT'] = 'there'", "environment variable LEFT: None -> 'there'"),
        ("logging.getLogger().addHandler(logging.NullHandler())", "root log handlers"),
        ("logging.disable(logging.ERROR)", "disabled log level: 0 -> 40"),
    ],
)
def test_whatever_is_left_changed_is_found(sessions: Sessions, body: str, left: str) -> None:
    sessions.write(f"def test_it(): {body}")
    root, environment = logging.getLogger(), pytest.MonkeyPatch()
    handlers = list(root.handlers)
    environment.setenv("LEFT", "")
    environment.delenv("LEFT")
    try:
        with pytest.raises(AssertionError, match=re.escape(left)):
            sessions.run()
    finally:
        environment.undo()
        root.handlers[:] = handlers
        logging.disable(logging.NOTSET)
