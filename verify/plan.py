"""`python -m verify.plan`: from a target epsilon to what to run, with a certificate."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bounds
from verify.errors import EXIT_STANDS, EXIT_VIOLATED, InputError, Parser, run_command
from verify.planner.cost import cost_of, draw_front
from verify.planner.errors import NoPlan
from verify.planner.goals import THEOREMS, named
from verify.planner.inverse import largest_constant, least_epsilon, rounds_within, sensitivity
from verify.planner.making import STARTS, make_plan
from verify.planner.result import Plan
from verify.planner.text import editions_text, front_text, plan_text

_CHOICES = ("gamma", "gamma_tilde", "r_hat", "R", "epsilon_ne")


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.plan`."""
    p = Parser(
        prog="python -m verify.plan",
        description="The fewest rounds that a theorem guarantees to be enough; exit 0 with a plan (or a certificate "
        "that stands), 1 if there is none (or it does not), 2 on bad input.",
    )
    source = p.add_mutually_exclusive_group()
    source.add_argument("--instance", metavar="NAME|FILE.toml", help="plan for an instance")
    source.add_argument(
        "--constants", type=Path, metavar="FILE.toml", help="plan for constants: name = number"
    )
    source.add_argument("--check", type=Path, metavar="FILE", help="verify a saved certificate from scratch")
    p.add_argument(
        "--set", action="append", default=[], metavar="NAME=NUMBER", help="give or replace a constant"
    )
    p.add_argument("--epsilon", type=float, metavar="E")
    p.add_argument("--epsilon-ne", type=float, metavar="E", help="target for the mean square NE distance")
    p.add_argument(
        "--theorem", default="4.6", metavar="ID", help=f"one of {', '.join(THEOREMS)}; default 4.6"
    )
    p.add_argument(
        "--edition", default="corrected", help="printed, corrected, sharp, or all; default corrected"
    )
    p.add_argument(
        "--H", type=int, nargs="+", metavar="H", help="local steps; several: a table and its Pareto front"
    )
    p.add_argument("--start", default="auto", choices=STARTS, help="how the unknown start is bounded")
    p.add_argument("--gamma", type=float)
    p.add_argument("--gamma-tilde", type=float)
    p.add_argument("--r-hat", type=int)
    p.add_argument("--R", type=int)
    p.add_argument(
        "--model-size", type=int, default=0, metavar="N", help="numbers in the model, for the traffic"
    )
    p.add_argument(
        "--budget-rounds", type=int, metavar="R", help="the smallest epsilon that R rounds guarantee"
    )
    p.add_argument(
        "--budget-gradients", type=int, metavar="K", help="the same for gradient evaluations per client"
    )
    p.add_argument(
        "--budget-bytes", type=int, metavar="BYTES", help="the same for bytes up (or down) per client"
    )
    p.add_argument("--covered", choices=("nu", "G"), help="the largest value that --R rounds still cover")
    p.add_argument("--sensitivity", action="store_true", help="d log R / d log of each constant")
    p.add_argument(
        "--simulate", action="store_true", help="run the plan (or its first rounds) on the instance"
    )
    p.add_argument("--seeds", type=int, default=16, metavar="S", help="seeds of --simulate; default 16")
    p.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the Pareto front over several H")
    p.add_argument("--json", action="store_true", help="print the certificate")
    p.add_argument("--out", type=Path, metavar="FILE", help="write the certificate")
    return p


def constants_from(options: argparse.Namespace) -> tuple[dict[str, Any], int | None, int]:
    """The constants, the instance's own H, and its model size (0 without an instance).

    Raises:
        InputError: for an unreadable file or a bad name.
    """
    H, size, found = None, options.model_size, {}
    if options.constants is not None:
        try:
            found = tomllib.loads(options.constants.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"--constants {options.constants} cannot be read as TOML: {error}") from None
        H = found.pop("H", None)
    elif options.instance is not None:
        from verify.instance import load_instance
        from verify.planner.instance import constants_of, require_unbiased

        instance = load_instance(options.instance)
        require_unbiased(instance)
        known = constants_of(instance)
        found, H = dict(known.constants), instance.algorithm.H
        size = size or known.setup.problem.n
    elif not options.set:
        raise InputError("nothing to plan for: give --instance, --constants or --set")
    for item in options.set:
        name, _, text = item.partition("=")
        try:
            found[name] = float(text)
        except ValueError:
            raise InputError(f"--set {item}: give NAME=NUMBER") from None
    return found, H, size


def _plan(constants: Mapping[str, Any], options: argparse.Namespace, edition: str, H: int | None) -> Plan:
    theorem = named(options.theorem)
    chosen = {n: getattr(options, n) for n in _CHOICES if getattr(options, n) is not None}
    if not theorem.startswith("Lemma"):
        chosen |= {"H": H, "start": options.start}
    return make_plan(constants, options.epsilon, theorem, edition, **chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    options = parser().parse_args(list(sys.argv[1:] if arguments is None else arguments))
    if options.check is not None:
        return _check(options.check)
    constants, H, size = constants_from(options)
    steps: list[int | None] = list(options.H) if options.H else [H]
    try:
        if _budget(options):
            plans = [_within(constants, options, steps[0], size)]
        elif options.epsilon is None:
            raise InputError("--epsilon is missing: give the target")
        elif options.edition == "all":
            return _editions(constants, options, steps[0])
        elif options.covered is not None:
            return _covered(constants, options, steps[0])
        else:
            plans = [_plan(constants, options, options.edition, h) for h in steps]
    except NoPlan as reason:
        print(f"no plan: {reason}")
        return EXIT_VIOLATED
    except bounds.UnknownStatement as error:
        raise InputError(str(error)) from None
    _write_plot(plans, options.plot)
    data = plans[0].certificate | {"cost": cost_of(plans[0], size).to_json()}
    if options.out is not None:
        try:
            options.out.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise InputError(f"--out {options.out} cannot be written: {error.strerror}") from None
    if options.json:
        print(json.dumps(data, indent=1))
    else:
        print(front_text(plans) if len(plans) > 1 else plan_text(plans[0], size))
    if options.sensitivity:
        limited = {n: v for n, v in _chosen(options, H).items() if n != "start"}
        slopes = sensitivity(
            constants, plans[0].epsilon, options.theorem, options.edition, start=plans[0].start, **limited
        )
        print("d log R / d log of:  " + ", ".join(f"{n} {v:+.3g}" for n, v in slopes.items()))
    if options.simulate:
        print(_simulated(plans[0], options))
    return EXIT_STANDS


def _chosen(options: argparse.Namespace, H: int | None) -> dict[str, Any]:
    chosen = {n: getattr(options, n) for n in _CHOICES if getattr(options, n) is not None}
    return chosen | {"H": H, "start": options.start}


def _budget(options: argparse.Namespace) -> bool:
    return any(b is not None for b in (options.budget_rounds, options.budget_gradients, options.budget_bytes))


def _within(constants: Mapping[str, Any], options: argparse.Namespace, H: int | None, size: int) -> Plan:
    R = rounds_within(
        rounds=options.budget_rounds, gradients=options.budget_gradients, traffic=options.budget_bytes,
        H=H or 1, model_size=size,
    )  # fmt: skip
    return least_epsilon(constants, R, options.theorem, options.edition, H=H, start=options.start)


def _covered(constants: Mapping[str, Any], options: argparse.Namespace, H: int | None) -> int:
    if options.R is None:
        raise InputError("--covered: it needs --R, the number of rounds")
    value, _ = largest_constant(
        constants, options.covered, options.epsilon, options.R, options.theorem, options.edition, H=H,
        start=options.start,
    )  # fmt: skip
    print(f"{options.covered} up to {value:.6g} is covered by {options.R} rounds")
    return EXIT_STANDS


def _simulated(plan: Plan, options: argparse.Namespace) -> str:
    if options.instance is None:
        raise InputError("--simulate: it needs --instance, a problem and a game to run")
    from verify.instance import load_instance
    from verify.planner.instance import constants_of
    from verify.planner.simulated import simulate_plan

    try:
        return simulate_plan(plan, constants_of(load_instance(options.instance)), seeds=options.seeds).text()
    except ValueError as error:
        raise InputError(f"--simulate: {error}") from None


def _write_plot(plans: Sequence[Plan], path: Path | None) -> None:
    if path is None:
        return
    try:
        path.write_bytes(draw_front(plans))
    except OSError as error:
        raise InputError(f"--plot {path} cannot be written: {error.strerror}") from None


def _editions(constants: Mapping[str, Any], options: argparse.Namespace, H: int | None) -> int:
    found: dict[str, Plan | NoPlan] = {}
    for edition in ("printed", "corrected", "sharp"):
        try:
            found[edition] = _plan(constants, options, edition, H)
        except NoPlan as reason:
            found[edition] = reason
    print(editions_text(found))
    return EXIT_STANDS if any(isinstance(p, Plan) for p in found.values()) else EXIT_VIOLATED


def _check(path: Path) -> int:
    from verify.planner.minimality import minimality
    from verify.planner.recheck import read, recheck

    data = read(path)
    result = recheck(data)
    smallest = minimality(data) if result.passed else None
    result.require(smallest is not False, "minimal: R - 1 rounds are not proved not to be enough")
    for problem in result.problems:
        print(f"fails: {problem}")
    print(f"{path}: {'the certificate stands' if result.passed else 'the certificate does not stand'}")
    if result.passed:
        said = (
            "is proved again"
            if smallest
            else "is not claimed (R was given, or is beyond what floats resolve)"
        )
        print(f"that R - 1 = {data['choice']['R'] - 1} rounds are not enough {said}")
    return EXIT_STANDS if result.passed else EXIT_VIOLATED


if __name__ == "__main__":
    run_command(main)
