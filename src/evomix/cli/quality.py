"""The few figures of an evaluation that fit a screen, each between its ceiling and floor."""

from collections.abc import Mapping
from typing import Any

from evomix.cli.console import answer, answer_table

_GEOMETRY = {
    "precision": "precision (1 is best)",
    "recall": "recall (1 is best)",
    "wasserstein": "W1 (0 is best)",
    "frechet": "Fréchet distance (0 is best)",
    "mauve": "overlap, MAUVE-like (1 is best)",
}


def answer_quality(measured: Mapping[str, Any]) -> None:
    """Print distances and downstream scores; the JSON form and the report have everything else."""
    if fidelity := measured.get("fidelity"):
        answer(f"distance to real rows (0 is best; floor: {fidelity['floor_name']})")
        rows = [(f"{entry['way']}-way total variation", entry["mean"], entry) for entry in fidelity["marginals"]]
        rows.append(("association difference", fidelity["association"]["difference"], fidelity["association"]))
        answer_table(
            ("", "synthetic", "ceiling", "floor"),
            [(name, _number(value), _number(entry["ceiling"]), _number(entry["floor"])) for name, value, entry in rows],
        )
    if geometry := measured.get("geometry"):
        answer(f"rows as points (k = 3; {geometry['synthetic_points']} against {geometry['real_points']} real ones)")
        answer_table(
            ("", "synthetic", "ceiling", "floor"),
            [
                (_GEOMETRY[row["name"]], *(_measure(row[place]) for place in ("synthetic", "ceiling", "floor")))
                for row in geometry["rows"]
            ],
        )
    if downstream := measured.get("downstream"):
        answer(f"models that predict {downstream['target']} on {downstream['test_rows']} held-out real rows")
        names = list(dict.fromkeys(name for arm in downstream["arms"] for name in arm["scores"]))
        answer_table(
            ("trained on", "rows", *(name.replace("_", " ") for name in names)),
            [
                (arm["title"], str(arm["rows"]), *(_score(arm["scores"].get(name)) for name in names))
                for arm in downstream["arms"]
            ],
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _measure(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "-"
    return _number(found["value"]) + (f" ± {found['error']:.3f}" if found["error"] else "")


def _score(score: Mapping[str, float | None] | None) -> str:
    if score is None:
        return "-"
    spread = "" if score["sd"] is None else f" ± {score['sd']:.3f}"
    return _number(score["mean"]) + spread
