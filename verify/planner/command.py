"""The work of `python -m verify.plan`: constants, the plan that is asked for, its text, its certificate."""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bounds
from verify.errors import EXIT_STANDS, EXIT_VIOLATED, InputError
from verify.planner.cost import cost_of, draw_front
from verify.planner.errors import NoPlan
from verify.planner.inverse import largest_constant, least_epsilon, rounds_within, sensitivity
from verify.planner.making import make_plan
from verify.planner.names import budgeted, named
from verify.planner.result import Plan
from verify.planner.text import editions_text, front_text, plan_text

_CHOICES = ("gamma", "gamma_tilde", "r_hat", "R", "epsilon_ne")


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


def run(options: argparse.Namespace) -> int:
    """Plan, or verify a certificate, as the options say; the exit status as an int."""
    if options.check is not None:
        return _check(options.check)
    constants, H, size = constants_from(options)
    steps: list[int | None] = list(options.H) if options.H else [H]
    try:
        if budgeted(options):
            plans = [_within(constants, options, steps[0], size)]
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


def _within(constants: Mapping[str, Any], options: argparse.Namespace, H: int | None, size: int) -> Plan:
    R = rounds_within(
        rounds=options.budget_rounds, gradients=options.budget_gradients, traffic=options.budget_bytes,
        H=H or 1, model_size=size,
    )  # fmt: skip
    return least_epsilon(constants, R, options.theorem, options.edition, H=H, start=options.start)


def _covered(constants: Mapping[str, Any], options: argparse.Namespace, H: int | None) -> int:
    value, _ = largest_constant(
        constants, options.covered, options.epsilon, options.R, options.theorem, options.edition, H=H,
        start=options.start,
    )  # fmt: skip
    print(f"{options.covered} up to {value:.6g} is covered by {options.R} rounds")
    return EXIT_STANDS


def _simulated(plan: Plan, options: argparse.Namespace) -> str:
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
