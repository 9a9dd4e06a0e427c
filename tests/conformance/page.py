"""The page with the table."""

from itertools import groupby

from compare import Row

HEAD = """\
# Conformance

Whether the presets do what the clients do whose names they have. The clients themselves, in the versions below, make
their attempts against a server that refuses, resets, hangs, or answers with errors, or are asked for their waits;
`stormsim` is told the same, by the preset and what is said beside it. The page is made by `tests/conformance/run
--update`, and `tests/conformance/run` checks that it still is so.

- *waits* are windows: from the least to the longest before the first retry, the second and so on. Most are exact, for
  the client's random source is replaced by one that walks evenly from 0 to 1; those of backon with jitter and of
  retry-policies are from 20,000 draws, to a hundredth.
- *real waits* were waited for. None may be shorter than the least. That one is longer may be the machine's doing, so of
  a few repetitions the shortest counts; of gRPC's, which cannot be had otherwise, there are many at once.
- *tried again* lists failures: `refused` connections, `reset` ones, an answer that `hang`s until a timeout, a status,
  and a status with `-after` it, which comes with `Retry-After: 2`.
- Where the last column does not say `yes` it says why not.
"""

COLUMNS = [
    "| version | set up with | preset | measured | stormsim | client | agrees |",
    "|---|---|---|---|---|---|---|",
]


def page(table: list[Row]) -> str:
    """The whole page."""
    sections = []
    for client, group in groupby(table, key=lambda row: row.case.client):
        lines = [line(row) for row in group]
        sections.append("\n".join([f"\n## {client}\n", *COLUMNS, *lines]) + "\n")
    return HEAD + "".join(sections)


def line(row: Row) -> str:
    """A line of a table."""
    cells = [
        row.version,
        row.case.told,
        f"`{row.case.preset}`",
        row.measured,
        row.ours,
        row.theirs,
        "yes" if row.agrees else f"no: {row.differs}",
    ]
    return "| " + " | ".join(cells) + " |"


def missing(table: list[Row], text: str) -> list[str]:
    """The lines that a page does not have."""
    there = set(text.splitlines())
    return [line(row) for row in table if line(row) not in there]


def disagreements(table: list[Row]) -> list[str]:
    """What is not as it should be, in words."""
    words = []
    for row in table:
        if not row.as_expected:
            problem = "agrees, but is said to differ" if row.agrees else "disagrees"
            words.append(
                f"{row.case.name} ({row.case.client} {row.version}, {row.case.told}): {row.measured} {problem}: "
                f"stormsim says {row.ours}, the client does {row.theirs}"
            )
    return words
