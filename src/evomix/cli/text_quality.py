"""What an evaluation of texts has beside points and models: lengths, words, repeated texts, canaries."""

from collections.abc import Mapping
from typing import Any, Final

from evomix.cli.console import answer, answer_table

_PLACES: Final = ("synthetic", "ceiling", "floor")


def answer_text_quality(measured: Mapping[str, Any]) -> None:
    """Print them; the JSON form and the report have everything else."""
    if lengths := measured["lengths"]:
        answer("lengths (W1: distance to the lengths of real texts)")
        answer_table(
            ("", "real", *_PLACES),
            [
                row
                for found in lengths
                for row in (
                    (f"mean {found['unit']}", *(_length(found, name, "mean") for name in ("real", *_PLACES))),
                    (f"W1, {found['unit']}", "-", *(_length(found, name, "distance") for name in _PLACES)),
                )
            ],
        )
    if words := measured["vocabulary"]:
        answer(f"words ({words['texts']} texts of each set)")
        answer_table(
            ("", *_PLACES),
            [(figure["name"], *(_three(figure[place]) for place in _PLACES)) for figure in words["figures"]],
        )
    answer("repeated texts (equal but for case and punctuation; similarity of at least 0.8)")
    answer_table(
        ("among", "equal", "control", "nearly equal", "control"),
        [
            (
                f"{found['corpus_texts']} {found['corpus']} texts",
                *(_share(found[name]) for name in ("exact", "control_exact", "near", "control_near")),
            )
            for found in measured["copies"]
        ],
    )
    if canaries := measured["canaries"]:
        answer(f"canaries ({canaries['planted']} planted, {canaries['references']} references)")
        answer_table(
            ("score", "mean exposure", "largest", "possible", "chance to score higher", "p"),
            [
                (found["score"], *(_three(found[name]) for name in ("mean", "largest", "possible", "auc", "p_value")))
                for found in canaries["exposures"]
            ],
        )
        literal, reference = _share(canaries["literal"]), _share(canaries["reference_literal"])
        answer(f"found word for word: {literal} of the planted, {reference} of the references")


def _length(found: Mapping[str, Any], name: str, figure: str) -> str:
    lengths = found["sets"].get(name)
    return "-" if lengths is None else f"{lengths[figure]:.2f}"


def _three(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(found: Mapping[str, Any] | None) -> str:
    return "-" if found is None else f"{found['share']:.1%}"
