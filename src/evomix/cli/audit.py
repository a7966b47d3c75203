"""``evomix audit``: an empirical lower bound on ε beside the proven upper bound."""

import time
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, say, warn
from evomix.cli.numbers import parse_delta, parse_whole
from evomix.cli.progress import Report, progress_bars
from evomix.core.errors import PrivacyError, SpecError

_MECHANISMS = ("linmix", "pubmix", "gaussian", "laplace")
_WHOLE = {"parser": parse_whole}


def audit(
    *,
    run_dir: Annotated[Path | None, typer.Argument(metavar="RUN_DIR", help="Folder of a finished run.")] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            metavar="|".join(_MECHANISMS),
            autocompletion=lambda: list(_MECHANISMS),
            help="Audit this mechanism, calibrated afresh, instead of a run's.",
        ),
    ] = None,
    epsilon: options.Epsilon = None,
    delta: Annotated[
        float | None,
        typer.Option("--delta", parser=parse_delta, metavar="D", help="Default 0.01, where an audit sees most."),
    ] = None,
    n: Annotated[int | None, typer.Option("--n", metavar="N", help="Private units (linmix, pubmix).", **_WHOLE)] = None,
    draws: Annotated[
        int | None, typer.Option("--draws", metavar="M", help="Draws in all (linmix, pubmix).", **_WHOLE)
    ] = None,
    candidates: Annotated[
        int | None, typer.Option("--candidates", metavar="d", help="Candidates of a round (linmix, pubmix).", **_WHOLE)
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option("--floor", metavar="t", help="Smallest noise mass (pubmix; default half of 1/d)."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="T", help="Rounds (gaussian, laplace; default 1).", **_WHOLE)
    ] = None,
    stddev: Annotated[
        float | None,
        typer.Option("--stddev", metavar="σ", help="Noise on a vote, instead of --epsilon (gaussian)."),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option("--scale", metavar="b", help="Noise on a vote, instead of --epsilon (laplace)."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="K",
            help="Runs on each of two neighbours (default 1000000, fewer where that would take more than minutes).",
            **_WHOLE,
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option("--confidence", metavar="C", help="Probability that the bounds are right."),
    ] = 0.999,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="S", help="Repeatable draws (linmix, pubmix); default: the system's.", **_WHOLE),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Attack the sampling code on made-up neighbours: a lower bound on ε beside the proven one. Costs no privacy.

    Exit code 3 if what was shown exceeds what is claimed.
    """
    chosen = {
        name: value
        for name, value in {
            "epsilon": epsilon,
            "delta": delta,
            "n": n,
            "draws": draws,
            "candidates": candidates,
            "floor": floor,
            "rounds": rounds,
            "stddev": stddev,
            "scale": scale,
        }.items()
        if value is not None
    }
    found = _found(run_dir, mechanism, chosen, {"trials": trials, "confidence": confidence, "seed": seed})
    for warning in found["warnings"]:
        warn(warning)
    if as_json:
        answer_json(found)
    else:
        answer("\n".join(_lines(found)))
    if found["verdict"] != "consistent":
        raise PrivacyError(
            "VIOLATION: more privacy is lost than is claimed, or the record does not bear out its claim. Do not "
            "release anything made with this code or this claim; report it to the maintainers with the output above"
        )


def _found(run_dir: Path | None, mechanism: str | None, chosen: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    from evomix.experiment.auditing import audit_mechanism, audit_run  # noqa: PLC0415  (--help must not wait for it)
    from evomix.experiment.specimen import calibrated  # noqa: PLC0415

    if (run_dir is None) == (mechanism is None):
        raise SpecError("give either RUN_DIR, the folder of a finished run, or --mechanism with its parameters")
    with progress_bars() as bars:
        report = Foretold(bars)
        if run_dir is None:
            assert mechanism is not None
            return audit_mechanism(calibrated(mechanism, **chosen), **how, report=report)
        if chosen:
            names = ", ".join(f"--{name}" for name in chosen)
            raise SpecError(f"{names} cannot be given with RUN_DIR: the run's own figures are audited")
        return audit_run(run_dir, **how, report=report)


class Foretold:
    """Passes on how far an audit is, and says once, when that can be told, how long it takes.

    Args:
        bars: what draws the progress on a terminal; ``None`` elsewhere, where the line is all there is.
    """

    _AFTER_S = 1.0

    def __init__(self, bars: Report | None) -> None:
        self._bars = bars
        self._began: tuple[float, int] | None = None
        self._said = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take ``done`` of ``total``."""
        if self._bars is not None:
            self._bars(stage, done, total)
        if stage != "audit" or self._said:
            return
        now = time.monotonic()
        if self._began is None:  # the first report comes after the first batch, whose start nobody reported
            self._began = now, done
            return
        spent, batch = now - self._began[0], done - self._began[1]
        if spent >= self._AFTER_S and batch > 0:
            self._said = True
            left = spent / batch * (total - done)
            if left >= self._AFTER_S:
                say(f"{total} runs to make and count on both sides, about {_duration(left)} to go")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.0f} minutes"


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"verdict: {found['verdict']}"
    yield f"mechanism: {found['mechanism']}"
    yield f"claimed: ε = {_exact(found['epsilon'])}, δ = {_exact(found['delta'])} ({found['adjacency']})"
    bears = found["accounted"] or (found["faults"] and found["proven_delta"] <= found["delta"])
    proven = f"δ ≤ {_exact(found['proven_delta'])}" if found["proven_delta"] < 1.0 else "nothing"
    yield f"proven: {proven} at this ε" + ("" if bears else ": MORE THAN CLAIMED")
    for fault in found["faults"]:
        yield f"not as recorded: {fault}"
    for claim in found["claims"]:
        which = "" if claim["stated"] else "easier to see, on the same proven curve: "
        shown, proven = _digits(claim["lower_bound"], ROUND_FLOOR), _digits(claim["epsilon"], ROUND_CEILING)
        yield (
            f"{which}at δ = {_exact(claim['delta'])}: {shown} ≤ ε ≤ {proven}"
            f" (shown, {'proven' if found['accounted'] or not claim['stated'] else 'claimed'};"
            f" at best about {claim['expected']:.2g} can be shown)"
        )
    yield f"trials: {found['trials']} on each of two neighbours; confidence: {_exact(found['confidence'])}"
    if not found["accounted"] or found["verdict"] != "consistent":
        return
    yield "An audit can convict, not acquit: that this attack shows no more is no proof."


def _exact(value: float) -> str:
    """Return a number with all its digits: rounded, it would be a claim that nobody made."""
    return repr(float(value)).removesuffix(".0")


def _digits(value: float, rounding: str) -> str:
    """Return four digits, rounded so that a bound stays one."""
    return f"{Context(prec=4, rounding=rounding).create_decimal_from_float(value).normalize():f}"
