"""Runs the clients, asks stormsim about the same, and writes or checks the table."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from compare import Row, rows
from page import disagreements, missing, page
from server import FailingServer
from stormsim import Case, Stormsim

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "conformance.md"
LIMIT_S = 120
"""No script takes half of that, on a machine with other things to do."""


def main() -> int:
    """The exit code: 0 if all is as the page says, 1 if not."""
    parsed = arguments()
    cases = [Case(table) for table in tomllib.loads((HERE / "cases.toml").read_text())["case"]]
    with FailingServer() as server, ThreadPoolExecutor() as pool:
        ports = ["--port", str(server.port), "--refusing-port", str(server.refusing_port)]
        answers = pool.map(lambda command: measure([*shlex.split(command), *ports]), parsed.client)
        measured = [line for lines in answers for line in lines]
    stormsim = Stormsim(parsed.stormsim)
    table = judge(cases, measured, stormsim)
    told = {line["case"] for line in measured}
    if parsed.complete and (unmeasured := [case.name for case in cases if case.name not in told]):
        print(f"no script measured {', '.join(unmeasured)}", file=sys.stderr)
        return 1
    return verdict(table, parsed.update, parsed.complete)


def arguments() -> argparse.Namespace:
    """What `run` says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stormsim", type=Path, required=True, help="the program")
    parser.add_argument("--client", action="append", default=[], help="the command line of a script")
    parser.add_argument("--complete", action="store_true", help="every case has a script")
    parser.add_argument("--update", action="store_true", help="write the page")
    return parser.parse_args()


def measure(command: list[str]) -> list[dict[str, Any]]:
    """What a script measured. Settings and proxies of whoever runs it are none of its business."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    # A command line may begin with variables of its own.
    done = subprocess.run(
        ["env", *command], env=kept, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(cases: list[Case], measured: list[dict[str, Any]], stormsim: Stormsim) -> list[Row]:
    """The lines of the table, in the order of the cases."""
    known = {case.name for case in cases}
    if unknown := [line["case"] for line in measured if line["case"] not in known]:
        raise RuntimeError(f"cases.toml has no case {', '.join(unknown)}")
    table = []
    for case in cases:
        for line in measured:
            if line["case"] == case.name:
                table += rows(case, line["version"], line, stormsim)
    return table


def verdict(table: list[Row], update: bool, complete: bool) -> int:
    """Writes the page or compares it with the table, and says what disagrees."""
    if lines := disagreements(table):
        print("\n".join(lines), file=sys.stderr)
        return 1
    if update:
        if not complete:
            print("the page is written only when all clients could be installed", file=sys.stderr)
            return 1
        PAGE.write_text(page(table))
        return 0
    text = PAGE.read_text() if PAGE.exists() else ""
    wrong = missing(table, text)
    # What was left out cannot be told from what is no more, so a page is compared as a whole only if nothing was.
    if wrong or (complete and text != page(table)):
        print("docs/conformance.md is not up to date; `tests/conformance/run --update` writes it", file=sys.stderr)
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    print(f"{len(table)} rows agree with docs/conformance.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
