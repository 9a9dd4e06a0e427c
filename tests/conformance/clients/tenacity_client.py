"""tenacity: a bare `@retry`, and its waits."""

import time
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import tenacity
from measuring import Measuring, gaps, swept_random, window

ENOUGH = 200
"""After so many attempts of a policy without end the script ends it."""


class Enough(BaseException):
    """Ends what would have no end: not an `Exception`, so it is not tried again."""


def schedule(wait: tenacity.wait.wait_base, retries: int) -> list[dict[str, float]]:
    """The windows of the waits before so many retries."""
    return [window(partial(wait, SimpleNamespace(attempt_number=retry))) for retry in range(1, retries + 1)]


def bare(measuring: Measuring) -> None:
    """What `@retry` does without arguments: it goes on until the script stops it."""
    slept: list[float] = []
    attempts = 0

    @tenacity.retry(sleep=lambda seconds: slept.append(seconds * 1000))
    def call() -> None:
        nonlocal attempts
        attempts += 1
        if attempts == ENOUGH:
            raise Enough
        raise OSError

    with suppress(Enough):
        call()
    endless = attempts == ENOUGH
    waits = [{"least": wait, "most": wait, "mean": wait} for wait in slept[:5]]
    measuring.tell("tenacity bare", attempts=None if endless else attempts, waits=waits)


def attempt() -> list[float]:
    """A call that fails: no server is needed for that, so the instants of its attempts are taken here."""
    instants: list[float] = []

    @tenacity.retry(stop=tenacity.stop_after_attempt(4), wait=tenacity.wait_exponential(multiplier=0.1))
    def call() -> None:
        instants.append(time.monotonic())
        raise OSError

    with suppress(tenacity.RetryError):
        call()
    return instants


def main() -> None:
    """Measures, one case after another."""
    measuring = Measuring("tenacity")
    bare(measuring)
    with swept_random():
        exponential = tenacity.wait_exponential(multiplier=1, min=1.5, max=10)
        measuring.tell("tenacity exponential", waits=schedule(exponential, 6))
        random_exponential = tenacity.wait_random_exponential(multiplier=0.5, max=6)
        measuring.tell("tenacity random", waits=schedule(random_exponential, 6))
        jittered = tenacity.wait_exponential_jitter(max=10)
        measuring.tell("tenacity jitter", waits=schedule(jittered, 6))
    calls = [gaps(attempt()) for _ in range(3)]
    measuring.tell("tenacity waiting", gaps=calls, attempts=len(calls[0]) + 1)


if __name__ == "__main__":
    main()
