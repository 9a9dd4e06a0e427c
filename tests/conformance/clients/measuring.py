"""What the scripts of the Python clients share."""

import argparse
import json
import random
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise

STEPS = 101
"""How many numbers a sweep has."""

KINDS = ["refused", "reset", "hang", "500", "503", "504", "429", "503-after", "429-after"]
"""The failures of which a client is asked whether it tries again."""


def timeout_for(behaviour: str) -> float:
    """The timeout of a client in seconds: short where the server hangs, else not to be met on a busy machine."""
    return 0.05 if behaviour == "hang" else 10


class Sweep:
    """A random source that walks evenly from 0 to the largest number below 1, over and over.

    A wait that takes one number is thus seen at both of its ends, and the mean of a round is exact.
    """

    def __init__(self) -> None:
        self._step = -1

    def __call__(self) -> float:
        self._step = (self._step + 1) % STEPS
        return min(self._step / (STEPS - 1), 1 - 2**-53)


@contextmanager
def swept_random() -> Iterator[None]:
    """Puts a sweep in the place of Python's random source."""
    # Functions such as `uniform` are methods of one hidden generator, and ask it.
    generator = random.uniform.__self__  # type: ignore[attr-defined]
    original = random.random
    generator.random = random.random = Sweep()
    try:
        yield
    finally:
        del generator.random
        random.random = original


@contextmanager
def skipped_sleeps() -> Iterator[list[float]]:
    """Lets sleeps end at once, and gives their lengths in milliseconds."""
    slept: list[float] = []
    original = time.sleep
    time.sleep = lambda seconds: slept.append(seconds * 1000)
    try:
        yield slept
    finally:
        time.sleep = original


def gaps(instants: list[float]) -> list[float]:
    """The times between instants, in milliseconds."""
    return [(later - earlier) * 1000 for earlier, later in pairwise(instants)]


def window(draw: Callable[[], float]) -> dict[str, float]:
    """The window of a wait in milliseconds, of which `draw` gives one in seconds, from one round of a sweep."""
    draws = [draw() * 1000 for _ in range(STEPS)]
    return {"least": min(draws), "most": max(draws), "mean": sum(draws) / STEPS}


class Measuring:
    """Where a script's server is, and what the script measured."""

    def __init__(self, package: str) -> None:
        arguments = argparse.ArgumentParser()
        arguments.add_argument("--port", type=int, required=True)
        arguments.add_argument("--refusing-port", type=int, required=True)
        parsed = arguments.parse_args()
        self._port: int = parsed.port
        self._refusing_port: int = parsed.refusing_port
        self._version = version(package)
        self._keys = 0
        self.key = ""

    def target(self, behaviour: str) -> str:
        """The address of a server that behaves so; attempts there are counted from here on."""
        self._keys += 1
        self.key = f"{type(self).__name__}-{id(self)}-{self._keys}"
        port = self._refusing_port if behaviour == "refused" else self._port
        return f"http://127.0.0.1:{port}/{self.key}/{behaviour}"

    def arrivals(self) -> list[float]:
        """When the attempts at the last target came, in seconds."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/{self.key}/arrivals") as answer:
            return json.load(answer)

    def gaps(self) -> list[float]:
        """The times between the attempts at the last target, in milliseconds."""
        return gaps(self.arrivals())

    def tell(self, case: str, **measured: object) -> None:
        """Hands what was measured to the judge."""
        print(json.dumps({"case": case, "version": self._version, **measured}), flush=True)
