"""Whether a client does what stormsim says, and both in words that are the same every time."""

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

from stormsim import Case, Stormsim, Window

EXACT = 1e-3
"""How far, as a share of the longest wait, what was measured with a swept random source may be from the window."""

SAMPLED = 0.01
"""The same for 20,000 draws from a random source of the client's own: that none of them is in the outermost hundredth
of a window has a probability below 1e-80, and the standard error of the mean is a five-hundredth of the window."""

TIMER_MS = 2
"""Timers that count whole milliseconds end up to one before, and an instant was cut down to one at both ends."""

NARROW_MS = 20
"""By how much the shortest of many real waits may exceed the least in any case."""

SLACK_MS = 500
"""By how much the shortest of a few real waits may exceed the longest that is said. A busy machine makes waits longer,
never shorter: the lower bound is exact, and this one only shows that the client does not wait for something else."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    case: Case
    version: str
    measured: str
    ours: str
    theirs: str
    agrees: bool
    differs: str | None

    @property
    def as_expected(self) -> bool:
        """Whether it agrees, or disagrees as it is known to."""
        return self.agrees == (self.differs is None)


def rows(case: Case, version: str, measured: dict[str, Any], stormsim: Stormsim) -> list[Row]:
    """The lines that come of one line of a script."""
    lines = []

    def line(kind: str, what: str, ours: str, theirs: str, agrees: bool) -> None:
        lines.append(Row(case, version, what, ours, theirs, agrees, case.differs.get(kind)))

    if "attempts" in measured:
        ours, theirs = case.attempts(stormsim), measured["attempts"]
        line("attempts", "attempts", count(ours), count(theirs), ours == theirs)
    if "waits" in measured:
        theirs = [Window(**window) for window in measured["waits"]]
        ours, theirs = shared(case.waits(stormsim), theirs)
        sampled = measured.get("sampled", False)
        agrees = bool(ours) and all(
            same(*pair, SAMPLED if sampled else EXACT) for pair in zip(ours, theirs, strict=True)
        )
        line("waits", "waits", schedule(ours), schedule([rounded(window, sampled) for window in theirs]), agrees)
    if "gaps" in measured:
        line("gaps", "real waits", *real(case.waits(stormsim), measured["gaps"]))
    if "rounds" in measured:
        line("gaps", "real waits", *spread(case.waits(stormsim), measured["rounds"]))
    if "after" in measured:
        ours, theirs = case.after(stormsim), Window(least=0, **measured["after"])
        line("after", "wait", asked(ours), asked(theirs), same(ours, theirs, SAMPLED))
    if "retries" in measured:
        ours, theirs = case.retries(stormsim), measured["retries"]
        line("retries", f"retries of {case.calls} calls", str(ours), str(theirs), ours == theirs)
    if "retried" in measured:
        lines += retried_rows(case, version, measured, stormsim)
    return lines


def retried_rows(case: Case, version: str, measured: dict[str, Any], stormsim: Stormsim) -> list[Row]:
    """What is tried again: a line for all failures on which nothing is said, and one for each other."""
    differs: dict[str, str] = case.differs.get("retried", {})
    ours, theirs = case.retried(stormsim, measured["tried"]), measured["retried"]

    def line(kinds: list[str], reason: str | None) -> Row:
        mine = [kind for kind in kinds if kind in ours]
        yours = [kind for kind in kinds if kind in theirs]
        return Row(case, version, "tried again", listed(mine), listed(yours), mine == yours, reason)

    agreed = [kind for kind in measured["tried"] if kind not in differs]
    return [line(agreed, None), *(line([kind], reason) for kind, reason in differs.items())]


def shared(ours: list[Window], theirs: list[Window]) -> tuple[list[Window], list[Window]]:
    """The waits of which both sides speak."""
    both = min(len(ours), len(theirs))
    return ours[:both], theirs[:both]


def same(ours: Window, theirs: Window, share: float) -> bool:
    """Whether a window is the other."""
    most = max(ours.most, theirs.most)
    pairs = [(ours.least, theirs.least), (ours.most, theirs.most)]
    if ours.mean is not None and theirs.mean is not None:
        pairs.append((ours.mean, theirs.mean))
    return all(abs(one - other) <= share * most for one, other in pairs)


def real(ours: list[Window], calls: list[list[float]]) -> tuple[str, str, bool]:
    """Whether the waits of a few calls are within their windows, as far as a busy machine lets that be seen."""
    calls = [call[: len(ours)] for call in calls]
    ours = ours[: len(calls[0])]
    agrees = all(
        all(call[retry] >= window.least - TIMER_MS for call in calls)
        and min(call[retry] for call in calls) <= window.most + SLACK_MS
        for retry, window in enumerate(ours)
    )
    return schedule(ours), "within" if agrees else "not within", bool(ours) and agrees


def spread(ours: list[Window], rounds: list[list[list[float]]]) -> tuple[str, str, bool]:
    """Whether the waits of many calls fill their windows.

    None is shorter than the least, and of the quietest round half are no longer than the longest. That none of 80 is in
    the lowest quarter of a window, or none in the highest, has a probability of 1e-10; but of a narrow window the
    lowest quarter may be lost to a busy machine.
    """
    calls = [call for calls in rounds for call in calls]
    ours = ours[: len(calls[0])]
    agrees = bool(ours)
    for retry, window in enumerate(ours):
        waits = [call[retry] for call in calls]
        quarter = (window.most - window.least) / 4
        agrees &= window.least - TIMER_MS <= min(waits) <= window.least + max(quarter, NARROW_MS)
        agrees &= max(waits) >= window.most - quarter
        agrees &= min(median(call[retry] for call in calls) for calls in rounds) <= window.most
    return schedule(ours), f"{len(calls)} each, which " + ("fill them" if agrees else "do not fill them"), agrees


def rounded(window: Window, sampled: bool) -> Window:
    """A window as it is shown: what was sampled has an end to be guessed, on a grid as fine as that can be done."""
    if not sampled:
        return window
    grid = 10 ** math.floor(math.log10(window.most)) / 20
    return Window(round(window.least / grid) * grid, round(window.most / grid) * grid, None)


def schedule(windows: list[Window]) -> str:
    """Windows in words; of a long schedule the beginning and the end."""
    words = [span(window) for window in windows]
    if len(words) > 6:
        words[3:-2] = [".."]
    return ", ".join(words) if words else "none"


def span(window: Window) -> str:
    """One window in words."""
    least, most = duration(window.least), duration(window.most)
    return most if least == most else f"{least} to {most}"


def asked(window: Window) -> str:
    """The wait after an answer that says when to try again, in words; a drawn mean has its noise."""
    shown = rounded(window, True)
    mean, most = window.mean or 0, duration(shown.most)
    if window.most - mean <= SAMPLED * window.most:
        return most
    return f"{duration(rounded(Window(0, mean, None), True).most)} on average, {most} at most"


def duration(milliseconds: float) -> str:
    """A duration in words, to four digits."""
    if milliseconds == 0:
        return "0"
    return f"{milliseconds / 1000:.4g} s" if milliseconds >= 999.95 else f"{milliseconds:.4g} ms"


def count(attempts: int | None) -> str:
    """A number of attempts in words."""
    return "no end" if attempts is None else str(attempts)


def listed(kinds: list[str]) -> str:
    """Failures in words."""
    return ", ".join(kinds) or "none"
