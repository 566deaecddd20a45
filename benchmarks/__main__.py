"""Command line: ``python -m benchmarks svc``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import instruction_sets, machine
from .crew import progress
from .groups import SUITES, Options, run_group
from .measure import Plan
from .peers import OURS, PEERS
from .report import GroupResult, head, write_json


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the groups that were asked for, print their tables, write the files."""
    command_line = parser()
    given = command_line.parse_args(arguments)
    if given.instruction_set is not None:
        try:
            instruction_sets.choose(given.instruction_set)
        except instruction_sets.LevelError as error:
            command_line.error(str(error))
    why_not = unable(given.command, given.quick)
    if why_not:
        print(why_not)
        return 1
    plan = Plan(
        repeats=given.repeats,
        most=max(given.repeats, 3 if given.quick else Plan.most),
        budget=0.0 if given.quick else Plan.budget,
        time_limit=given.time_limit,
    )
    apart = {"tables": given.tables, "cuts": given.cuts, "kept": given.keep}
    options = Options(given.peers, plan, given.quick, given.match, given.minutes, **apart)
    peers = given.peers or ([OURS] if given.command in ("threads", "play") else list(PEERS))
    facts = {**machine.describe(), **conditions_of(given.command, plan, peers)}
    print(head(facts), flush=True)
    results: list[GroupResult] = []
    for name in given.only or SUITES[given.command]:
        progress(f"== {name}")
        results.append(run_group(name, options))
        print(results[-1], flush=True)
        write(given.json, given.markdown, facts, results)
    return 0


def unable(command: str, quick: bool) -> str:
    """Return a sentence that says why a suite cannot run on this machine, or nothing."""
    if command != "gpu":
        return ""
    from . import card

    return card.refusal(quick)


def conditions_of(command: str, plan: Plan, peers: list[str]) -> dict[str, str]:
    """Say on what a suite runs: mercer alone on a GPU, or the peers."""
    if command != "gpu":
        return conditions(plan, peers)
    from . import card

    return card.facts()


def write(
    json: Path | None, markdown: Path | None, facts: dict[str, str], results: list[GroupResult]
) -> None:
    """Write the files; after every group, so that a run that is ended early leaves its part."""
    if json is not None:
        write_json(json, facts, results)
    if markdown is not None:
        markdown.write_text("\n".join([head(facts), *map(str, results)]))


def conditions(plan: Plan, peers: list[str]) -> dict[str, str]:
    """Say how the peers are run."""
    return {
        "timing": (
            f"interleaved, each solver in a process of its own, best of at least {plan.repeats} "
            f"runs (up to {plan.most} while they are cheap; a fit above "
            f"{plan.slow * plan.time_limit:g} s runs once, one above {plan.time_limit:g} s is cut "
            "and shown as such), garbage collector off, one warm-up on 100 rows, fit only"
        ),
        "all solvers": (
            f"the same C, gamma (as a number) and tol=1e-3, kernel cache "
            f"{machine.cache_megabytes()} MB, C-contiguous rows unless said otherwise"
        ),
        **{PEERS[peer].label: PEERS[peer].settings for peer in peers},
    }


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    top = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    for suite, groups in SUITES.items():
        _add_command(commands.add_parser(suite, help=f"groups: {', '.join(groups)}"), groups)
    return top


def _add_command(command: argparse.ArgumentParser, groups: list[str]) -> None:
    command.add_argument("--only", nargs="+", choices=groups, help="groups to run (default: all)")
    command.add_argument("--peers", nargs="+", choices=list(PEERS), help="solvers (default: all)")
    command.add_argument("--match", metavar="TEXT", help="only problems whose name contains TEXT")
    command.add_argument("--repeats", type=positive, default=3, help="runs at least (default: 3)")
    command.add_argument(
        "--time-limit", type=float, default=120.0, help="seconds a fit (default: 120)"
    )
    command.add_argument(
        "--instruction-set",
        choices=instruction_sets.LEVELS,
        help="what mercer's loops use, of what this processor has (default: the best)",
    )
    command.add_argument(
        "--minutes", type=float, default=3.0, help="for each comparison of models (default: 3)"
    )
    command.add_argument(
        "--tables",
        type=lambda text: [name.strip() for name in text.split(",")],
        metavar="NAMES",
        help="of compare: only these tables, by their first words, with commas (default: all)",
    )
    command.add_argument(
        "--cuts",
        type=positive,
        help="of compare: how often each table is cut anew into rows to learn from and held out "
        "(default: until 150 rows have been held out)",
    )
    command.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="of compare: keep each cut in this file as soon as it is measured, and measure none "
        "that it has",
    )
    command.add_argument(
        "--quick", action="store_true", help="tiny problems, to test the benchmark"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write all records")
    command.add_argument("--markdown", type=Path, metavar="FILE", help="write what is printed")


def positive(text: str) -> int:
    """Read a positive whole number."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


if __name__ == "__main__":
    raise SystemExit(main())
