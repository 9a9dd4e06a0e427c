"""urllib3: the default of its pools, and a backoff factor."""

from contextlib import suppress
from typing import Any

import urllib3
from measuring import KINDS, Measuring, skipped_sleeps, swept_random, timeout_for, window
from urllib3.util.retry import Retry

LISTED = [503]


def attempt(measuring: Measuring, behaviour: str, retries: Retry | None = None) -> int:
    """Makes a request that fails, and gives the number of its retries."""
    pool = urllib3.PoolManager(timeout=timeout_for(behaviour))
    counted: list[Retry] = []

    class Counted(Retry):
        """Notes each retry: what is refused reaches no server that could."""

        def increment(self, *arguments: Any, **named: Any) -> Retry:
            after = super().increment(*arguments, **named)
            counted.append(after)
            return after

    given = retries or Retry.DEFAULT
    counting = Counted(given.total, backoff_factor=given.backoff_factor, status_forcelist=given.status_forcelist)
    with suppress(urllib3.exceptions.HTTPError):
        pool.request("GET", measuring.target(behaviour), retries=counting)
    return len(counted)


def schedule(factor: float, jitter: float, retries: int) -> list[dict[str, float]]:
    """The windows of the waits before so many retries."""
    failed = urllib3.HTTPResponse(status=503)
    retry = Retry(retries, backoff_factor=factor, backoff_jitter=jitter, status_forcelist=LISTED)
    windows = []
    for _ in range(retries):
        retry = retry.increment("GET", "/", response=failed)
        windows.append(window(retry.get_backoff_time))
    return windows


def main() -> None:
    """Measures, one case after another."""
    measuring = Measuring("urllib3")
    with swept_random():
        measuring.tell("urllib3 pool", waits=schedule(Retry.DEFAULT.backoff_factor, 0, 3))
        measuring.tell("urllib3 backoff", waits=schedule(0.1, 0, 5))
        measuring.tell("urllib3 cap", waits=schedule(30, 0, 5))
        measuring.tell("urllib3 jitter", waits=schedule(0.1, 0.5, 5))

    with skipped_sleeps() as slept:
        measuring.tell("urllib3 pool", attempts=attempt(measuring, "refused") + 1)
        measuring.tell("urllib3 pool", retried=[kind for kind in KINDS if attempt(measuring, kind) > 0], tried=KINDS)
        slept.clear()
        attempt(measuring, "429-after")
        measuring.tell("urllib3 retry-after", after={"mean": sum(slept) / len(slept), "most": max(slept)})

    calls = []
    for _ in range(3):
        attempt(measuring, "503", Retry(3, backoff_factor=0.1, status_forcelist=LISTED))
        calls.append(measuring.gaps())
    measuring.tell("urllib3 waiting", gaps=calls, attempts=len(calls[0]) + 1)


if __name__ == "__main__":
    main()
