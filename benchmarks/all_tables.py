"""The default beside the best rival on every set of tables, out of what `evomix bench table` has left.

    python benchmarks/all_tables.py

Reads results/bench/*.json and keeps one line a set and ε. *First* and *near* (within one standard error of the
difference of the best) are by the rule that the benchmark marks its tables by, but among the default and the rivals
that finished alone: evomix's other methods do not count.
"""

import json
import math

from evomix.bench.rivals.registry import RIVALS
from measuring import RESULTS, markdown, publish

OURS, AIM, REAL, PUBLIC = "default", "aim", "real_all", "public_all"
PAIRS = "tv_2_private"
NAMES = {one.name for one in RIVALS}
HEADER = ("set", "ε", "score", "evomix", "best rival", "place", "real rows", "public rows")
NEARNESS = ("set", "ε", "evomix", "AIM", "least of the rivals", "evomix / AIM")


def main() -> None:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((RESULTS / "bench").glob("*.json"))]
    scored = [
        one
        for one in found
        if PAIRS in {measure["name"] for measure in one["measures"]} and any(map(_is_rival, one["lines"]))
    ]
    downstream, pairs, places = [], [], []
    for one in scored:
        measure = one["measures"][0]
        for epsilon in sorted({line["epsilon"] for line in one["lines"] if line["epsilon"] is not None}):
            lines = {line["name"]: line for line in one["lines"] if line["epsilon"] in (epsilon, None)}
            rivals = [
                name for name in lines if _is_rival(lines[name]) and _mean(lines[name], measure["name"]) is not None
            ]
            ahead = max if measure["better"] == "higher" else min
            best = ahead(rivals, key=lambda name: _mean(lines[name], measure["name"]))
            places.append((one["name"], epsilon, _place(lines, best, measure)))
            texts = [_text(lines.get(name), measure["name"]) for name in (OURS, best, REAL, PUBLIC)]
            texts[1] += f" ({lines[best]['title']})"
            cells = (one["name"], f"{epsilon:g}", measure["title"], *texts[:2], places[-1][2], *texts[2:])
            downstream.append(cells)
            least = min(rivals, key=lambda name: _mean(lines[name], PAIRS))
            aim = lines[AIM] if AIM in rivals else None
            ratio = "–" if aim is None else f"{_mean(lines[OURS], PAIRS) / _mean(aim, PAIRS):.2f}"
            ends = (_text(aim, PAIRS), f"{_text(lines[least], PAIRS)} ({lines[least]['title']})", ratio)
            pairs.append((one["name"], f"{epsilon:g}", _text(lines[OURS], PAIRS), *ends))
    counts = []
    for epsilon in sorted({epsilon for _, epsilon, _ in places}):
        here = [place for _, some, place in places if some == epsilon]
        counts.append(f"{sum(place != 'behind' for place in here)} of {len(here)} sets at ε = {epsilon:g}")
    publish(
        "all_tables",
        f"First or near by the score of gradient boosting: {', '.join(counts)}.",
        markdown(HEADER, downstream),
        "Total variation of pairs to the private rows:",
        markdown(NEARNESS, pairs),
        command="python benchmarks/all_tables.py",
    )


def _is_rival(line):
    return line["name"] in NAMES


def _mean(line, score):
    held = line["scores"].get(score)
    return None if held is None else held["mean"]


def _place(lines, best, measure):
    """Return whether the default is ahead of the best rival, or behind it by less than one standard error."""
    ours, theirs = (lines[name]["scores"][measure["name"]] for name in (OURS, best))
    behind = (theirs["mean"] - ours["mean"]) * (1.0 if measure["better"] == "higher" else -1.0)
    if behind <= 0.0:
        return "first"
    # A method that ran out of time may have a single repetition, and then no error: it counts as exact.
    return "near" if behind <= math.hypot(ours["error"] or 0.0, theirs["error"] or 0.0) else "behind"


def _text(line, score):
    if line is None or line["scores"].get(score) is None:
        return "–"
    held = line["scores"][score]
    digits = 1 if held["mean"] > 10.0 else 4 if score == PAIRS else 3
    return f"{held['mean']:.{digits}f}" + ("" if held["error"] is None else f" ± {held['error']:.{digits}f}")


if __name__ == "__main__":
    main()
