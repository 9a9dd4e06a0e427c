"""What stormsim says of a case."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ERRORS: dict[str, tuple[str, str | None]] = {
    "refused": ("refused", None),
    "reset": ("reset", None),
    "hang": ("timeout", None),
    "500": ("internal", None),
    "503": ("unavailable", None),
    "504": ("deadline", None),
    "429": ("rate_limited", None),
    "503-after": ("unavailable", "2s"),
    "429-after": ("rate_limited", "2s"),
    "UNAVAILABLE": ("unavailable", None),
    "RESOURCE_EXHAUSTED": ("rate_limited", None),
    "INTERNAL": ("internal", None),
    "DEADLINE_EXCEEDED": ("deadline", None),
}
"""The errors, and the delays that come with them, as which stormsim knows the failures of the servers."""

MANY = 2000
"""So many clients, where the mean of a drawn wait is wanted."""


@dataclass(frozen=True)
class Window:
    """The least, the longest and the mean wait, in milliseconds; a mean may be unknown."""

    least: float
    most: float
    mean: float | None


@dataclass(frozen=True)
class Situation:
    """How one service fails, and who calls it how often."""

    error: str = "unavailable"
    retry_after: str | None = None
    clients: int = 1
    requests: int = 1
    at_once: bool = False
    fails_from: str = "0s"
    fails_until: str | None = None

    def scenario(self, policy: str) -> str:
        """The scenario of it, with this policy."""
        one_by_one = f'{{ closed = {{ think = "1ms", requests = {self.requests} }} }}'
        arrivals = "{ burst = {} }" if self.at_once else one_by_one
        hint = f', retry_after = "{self.retry_after}"' if self.retry_after else ""
        until = f'until = "{self.fails_until}"\n' if self.fails_until else ""
        return (
            'version = 1\nname = "conformance"\nreplicas = 1\nhorizon = "1h"\n'
            f'[clients.app]\ncount = {self.clients}\narrivals = {arrivals}\ncalls.server = {{ retry = "policy" }}\n'
            "[services.server]\n"
            f'[faults.down]\non = ["server"]\nfrom = "{self.fails_from}"\n{until}'
            f'effect = {{ fail = {{ error = "{self.error}"{hint} }} }}\n'
            f"[retries.policy]\n{policy}\n"
        )


@contextmanager
def written(scenario: str) -> Iterator[str]:
    """The path of a file with this text."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario)
        file.flush()
        yield file.name


class Stormsim:
    """The program."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def preset(self, name: str) -> dict[str, Any]:
        """What it says of a preset."""
        return self._json("presets", name, "--format", "json")["presets"][0]

    def explain(self, policy: str) -> tuple[int | None, list[Window]]:
        """The number of attempts, `None` for no end, and the waits of a policy."""
        with written(Situation().scenario(policy)) as file:
            call = self._json("explain", file, "--format", "json")[0]["calls"][0]
        waits = [
            Window(wait["shortest_s"] * 1000, wait["longest_s"] * 1000, wait["mean_s"] * 1000) for wait in call["waits"]
        ]
        return call["max_attempts"], waits

    def run(self, policy: str, situation: Situation) -> dict[str, float | None]:
        """The metrics of a run, by name."""
        with written(situation.scenario(policy)) as file, tempfile.TemporaryDirectory() as folder:
            summary = self._json("run", file, "--output", folder, "--no-charts", "--format", "json")
        metrics = summary["variants"][0]["metrics"]
        return {name: metric["mean"] for name, metric in metrics.items()}

    def _json(self, *arguments: str) -> Any:
        done = subprocess.run([self._program, *arguments], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{self._program} {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)


class Case:
    """One setting of a client, and the same for stormsim."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.name: str = table["name"]
        self.client: str = table["client"]
        self.told: str = table["told"]
        self.preset: str = table["preset"]
        self.differs: dict[str, Any] = table.get("differs", {})
        self._keys: str = table.get("policy", "")
        self._table = table

    @property
    def calls(self) -> int:
        """How many calls fail where retries are counted."""
        return self._table["calls"]

    @property
    def policy(self) -> str:
        """The keys of its policy."""
        return f'preset = "{self.preset}"\n{self._keys}'

    def attempts(self, stormsim: Stormsim) -> int | None:
        """How many attempts a call has that fails; `None` is no end."""
        if "asked" in self._table:
            metrics = stormsim.run(self.policy, self._situation(retry_after=self._table["asked"]))
            return round(metrics["attempts"] or 0)
        if self._keys:
            return stormsim.explain(self.policy)[0]
        return stormsim.preset(self.preset)["attempts"]

    def waits(self, stormsim: Stormsim) -> list[Window]:
        """The windows of its waits."""
        if self._keys:
            return stormsim.explain(self.policy)[1]
        key = "waits_throttled" if self._table.get("throttled") else "waits"
        return [
            Window(wait["least_ms"], wait["most_ms"], wait["mean_ms"]) for wait in stormsim.preset(self.preset)[key]
        ]

    def retried(self, stormsim: Stormsim, kinds: list[str]) -> list[str]:
        """The failures among these that are tried again."""
        # That a client tries again is seen at the first retry. A policy may have no end.
        once = f"{self.policy}max_retries = 1\n"
        situations = {kind: Situation(error=ERRORS[kind][0], retry_after=ERRORS[kind][1]) for kind in kinds}
        return [kind for kind in kinds if (stormsim.run(once, situations[kind])["attempts"] or 0) > 1]

    def retries(self, stormsim: Stormsim) -> int:
        """How many retries the calls of one client have that all fail."""
        calls, successes = self.calls, self._table.get("successes", 0)
        if self._table.get("at_once"):
            situation = self._situation(clients=calls, at_once=True)
        else:
            # Calls that succeed take no time, and there is one per millisecond.
            begins = f"{successes * 1000 - 500}us" if successes else "0s"
            situation = self._situation(requests=calls + successes, fails_from=begins)
        return round(stormsim.run(self.policy, situation)["retries"] or 0)

    def after(self, stormsim: Stormsim) -> Window:
        """The wait after one failure that says when to try again; what is least is not known."""
        situation = self._situation(
            retry_after=self._table["asked"], clients=MANY, at_once=True, fails_until="1ms", error="rate_limited"
        )
        metrics = stormsim.run(self.policy, situation)
        return Window(0, metrics["latency_max_ms"] or 0, metrics["latency_mean_ms"])

    def _situation(self, error: str = "unavailable", **changes: Any) -> Situation:
        return Situation(error=self._table.get("error", error), **changes)
