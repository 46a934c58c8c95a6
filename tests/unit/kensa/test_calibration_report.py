"""A calibration on the terminal: figures, what cannot be computed, and hostile text made safe."""

from __future__ import annotations

from kensa.calibration import Comparison, Judging, calibrations_of, overall
from kensa.calibration_report import report_lines
from kensa.labels import Label
from seatrial.models import ModelChoice
from seatrial.spending import Spent

CHOICE = ModelChoice("openai", "judge")


def compared(
    passed: bool, *votes: bool | None, name: str = "a", criteria: str = "polite", reason: str = "r"
) -> Comparison:
    return Comparison(Label(name=name, output="o", passed=passed, criteria=criteria), votes, reason)


def report(*comparisons: Comparison, spent: Spent | None = None, repeats: int = 1) -> list[str]:
    judging = Judging(comparisons, spent or Spent(calls=len(comparisons)))
    total, parts = overall(comparisons, CHOICE), calibrations_of(comparisons, CHOICE)
    return report_lines(judging, total, parts, repeats=repeats)


def starting(lines: list[str], word: str) -> str:
    (line,) = [line for line in lines if line.lstrip().startswith(word)]
    return line


def test_every_figure_has_its_counts_and_interval() -> None:
    lines = report(
        *[compared(True, True)] * 8,
        *[compared(False, False)] * 9,
        compared(False, True),
        compared(True, False),
        compared(True, False),
    )
    assert "  people pass              8           2" in lines
    assert "  people fail              1           9" in lines
    assert starting(lines, "agreement").endswith("0.850  (17/20; 95 % interval 0.621 to 0.968)")
    assert starting(lines, "sensitivity").endswith("0.800  (8/10; 95 % interval 0.444 to 0.975)")
    assert starting(lines, "specificity").endswith("0.900  (9/10; 95 % interval 0.555 to 0.997)")
    assert "0.700  (substantial; 95 % interval " in starting(lines, "kappa")
    assert not any("could not tell" in line for line in lines)


def test_what_cannot_be_computed_says_why() -> None:
    lines = report(compared(True, True))
    assert starting(lines, "specificity").endswith("nothing that people failed was judged")
    assert starting(lines, "flip rate").endswith("needs --repeats 2")
    assert "needs outputs that people passed and outputs that they failed" in starting(
        lines, "kappa"
    )
    lines = report(compared(False, None, None), repeats=2)
    assert starting(lines, "agreement").endswith("nothing was judged")
    assert starting(lines, "sensitivity").endswith("nothing that people passed was judged")
    assert starting(lines, "flip rate").endswith("no output was judged twice")
    assert starting(lines, "could not tell").split()[-1] == "1"


def test_each_word_for_kappa_is_that_of_landis_and_koch() -> None:
    words = {}
    for disagreeing in range(11):
        same = [compared(True, True)] * 10 + [compared(False, False)] * (10 - disagreeing)
        figure = starting(report(*same, *[compared(False, True)] * disagreeing), "kappa")
        value, word = figure.split(None, 1)[1].split("  (")
        words[float(value)] = word.split(";")[0]
    assert words == {
        1.0: "almost perfect",
        0.9: "almost perfect",
        0.8: "substantial",
        0.7: "substantial",
        0.6: "moderate",
        0.5: "moderate",
        0.4: "fair",
        0.3: "fair",
        0.2: "slight",
        0.1: "slight",
        0.0: "slight",
    }
    worse = report(compared(True, False), compared(False, True))
    assert "-1.000  (poor;" in starting(worse, "kappa")


def test_an_unknown_price_is_not_nothing() -> None:
    known = Spent(calls=2, stored=1, known_usd=0.5)
    part = Spent(calls=2, known_usd=0.5, unpriced=1)
    none = Spent(calls=1, unpriced=1)
    texts = [starting(report(compared(True, True), spent=s), "cost") for s in (known, part, none)]
    assert [text.split(None, 1)[1] for text in texts] == [
        "$0.5000  (2 questions, 1 answered from the cache)",
        "more than $0.5000  (2 questions, 0 answered from the cache)",
        "unknown  (1 question, 0 answered from the cache)",
    ]


def test_several_criteria_are_shown_apart() -> None:
    lines = report(
        compared(True, True),
        compared(False, False),
        compared(True, False, criteria="short\x1b[2J" + "s" * 200),
    )
    assert "  2/2 agree, kappa 1.000: polite" in lines
    (short,) = [line for line in lines if line.startswith("  0/1 agree, no kappa: short\\x1b[2J")]
    assert len(short) < 120
    assert "by criteria:" not in report(compared(True, True))


def test_disagreements_are_shown_escaped_and_capped() -> None:
    hostile = compared(
        True,
        False,
        name="n\x1b[2J" * 99,
        criteria="c\n" * 999,
        reason="\u202e\nagreement 1.000" * 999,
    )
    lines = report(*[hostile] * 21, compared(True, None, reason="down"))
    told = [line for line in lines if ": people pass, judge fail [" in line]
    assert len(told) == 20
    assert all(len(line) < 500 and line.isprintable() for line in told)
    assert "21 to read, where judge and people disagree:" in lines
    assert "  and 1 more; --json has all" in lines
