"""GAPE, Figures 2 and 3 and Table 1 in form: recall, precision and W1 against ε on embedded texts.

The paper generates with GPT-2; here texts are recombined from a public pool without a model, so that a run takes
minutes and needs no download. Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026),
section 4.1 and appendix H.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.reports.line_chart import Series, line_chart
from evomix.reproduction.figure import Reproduction, Request
from evomix.reproduction.gape_texts_claims import budget, text_claims, text_notes
from evomix.reproduction.releases import ADJACENCY
from evomix.reproduction.sentence_mixing import NEIGHBOURS as MIXED
from evomix.reproduction.text_curves import (
    ALL_CURVES,
    CEILING,
    DISTANCE,
    EPSILONS,
    FLOOR,
    GAPE,
    GAUSSIAN_CURVES,
    MIXING_CURVES,
    NEIGHBOURS,
    PAPER_CURVES,
    PRECISION,
    QUICK_EPSILONS,
    RECALL,
    SMALLEST,
    SUBSAMPLE,
    WEIGHTED,
    Measured,
    Setting,
    measure,
)
from evomix.reproduction.text_embedding import DEFAULT, load_embedder
from evomix.reproduction.text_evolution import FIRST_SCALE, LAST_SCALE, ROUNDS, START, VARIATIONS
from evomix.reproduction.texts import TAKEN, WHAT_IS_NEEDED, Texts, split_texts

RATIO: Final = 37
"""n/m of the paper's PubMed runs (75,000 texts, m = 2,000); so votes a candidate, against noise, are the paper's."""
SETTINGS: Final = (
    Setting("another mixture", "", shifted=True, ratio=RATIO, curves=ALL_CURVES),
    Setting("same mixture", "same-mixture", shifted=False, ratio=RATIO, curves=PAPER_CURVES),
    Setting("another mixture, m a third", "fewer-rows", shifted=True, ratio=3 * RATIO, curves=PAPER_CURVES),
    Setting("another mixture, m threefold", "more-rows", shifted=True, ratio=RATIO // 3, curves=PAPER_CURVES),
)
"""The first is that of the figures, and claims are judged there."""
_DRAWN: Final = (RECALL, DISTANCE, PRECISION, SMALLEST)
"""What is drawn of the first setting; of the others the first two."""
_UNWEIGHTED: Final = (RECALL, PRECISION)
"""What weights do not change."""
_LABELS: Final = {
    RECALL: f"recall (k = {NEIGHBOURS})",
    PRECISION: f"precision (k = {NEIGHBOURS})",
    DISTANCE: "W1 to the private texts",
    SMALLEST: "share of the smallest topic",
}
_FREE_AT: Final = 16.0  # where "no noise" stands on an axis that has no place for infinity


def gape_texts(request: Request) -> Reproduction:
    """Return the figures of all settings.

    Raises:
        SpecError: no texts, too few of them, or an embedder that cannot be used.
    """
    texts = request.texts
    if texts is None:
        raise SpecError(f"these figures need --data FILE, a table with {WHAT_IS_NEEDED}")
    embedder = None if request.embedder is None else load_embedder(request.embedder)
    epsilons = QUICK_EPSILONS if request.quick else EPSILONS
    settings = SETTINGS[:1] if request.quick else SETTINGS
    for one in settings:
        split_texts(texts, shifted=one.shifted, ratio=one.ratio, seed=0)  # too few texts are refused at once
    found = [measure(one, texts, embedder=embedder, epsilons=epsilons, seeds=request.seeds) for one in settings]
    return Reproduction(
        plots=tuple(plot for one in found for plot in _plots(one, texts)),
        settings=_settings(texts, request),
        numbers={"settings": [_numbers(one) for one in found]},
        header=("recall", *(budget(epsilon) for epsilon in epsilons)),
        rows=tuple(row for one in found for row in _rows(one)),
        claims=text_claims(found),
        notes=(*(note for one in found for note in text_notes(one)), *_NOTES),
    )


_OWN: Final = (
    "Distances are to the private texts that voted, as in the paper, and nothing was tuned on them. The held-out texts "
    "say what as many real texts reach; a set that was chosen to stand for all can go beyond that."
)
_RECALL: Final = (
    "Recall is the paper's: the share of private texts whose ball, as large as the distance to the third neighbour, "
    "holds a synthetic text. With m far below n it is small for any m real texts."
)
_SPHERE: Final = (
    "The default vectors lie on a sphere, so that no distance exceeds 2, and R/3, ten thirds of the largest distance "
    "to a centre, truncates none of them."
)
_NOTES: Final = (_OWN, _RECALL, _SPHERE)


def _plots(found: Measured, texts: Texts) -> list[tuple[str, str]]:
    """Return the plots of one setting with the ends of their files' names: selections, then mechanisms."""
    named = [curve.name for curve in GAUSSIAN_CURVES]
    mixed = [SUBSAMPLE.name, GAPE.name, *(curve.name for curve in MIXING_CURVES)]
    whole = not found.setting.slug
    drawn = [(metric, "", named if metric in _UNWEIGHTED else [*named, WEIGHTED]) for metric in _DRAWN]
    drawn = [*drawn, (RECALL, "mechanisms", mixed), (DISTANCE, "mechanisms", mixed)] if whole else drawn[:2]
    return [
        (_suffix(found.setting.slug, kind, metric), _plot(found, metric, names, texts)) for metric, kind, names in drawn
    ]


def _suffix(slug: str, kind: str, metric: str) -> str:
    words = (slug, kind, "" if metric == RECALL else metric.lower().replace(" ", "-"))
    return "".join(f"-{word}" for word in words if word)


def _plot(found: Measured, metric: str, names: Sequence[str], texts: Texts) -> str:
    x = [min(epsilon, _FREE_AT) for epsilon in found.epsilons]
    curves = [
        Series(name, x, values[metric].mean(axis=1), spread=_scatter(values[metric]), marker=True)
        for name, values in ((name, found.values[name]) for name in names if name in found.values)
    ]
    levels = [(name, float(found.references[name][metric].mean())) for name in (CEILING, FLOOR)]
    if metric == SMALLEST:
        levels[0] = ("true share", float(found.share.mean()))
    n, m, pool = found.sizes
    return line_chart(
        [*curves, *(Series(name, x, [level] * len(x)) for name, level in levels)],
        title=f"Embedded texts, {found.setting.name}: {_LABELS[metric]}",
        x_label="ε (votes without noise at 16)",
        y_label=_LABELS[metric],
        log_x=True,
        note=(
            f"Simulation on texts of {texts.source} declared public, recombined without a model. n = {n:,}, m = {m:,}, "
            f"{pool:,} public texts, {ROUNDS} rounds, δ = 1/(n ln n), {ADJACENCY}. Bars: ± 1 s.d. over "
            f"{len(found.share)} splits."
        ),
    )


def _scatter(values: Any) -> Any:
    return values.std(axis=-1, ddof=1 if values.shape[-1] > 1 else 0)


def _rows(found: Measured) -> list[tuple[str, ...]]:
    """Return Table 1 in form: recall by ε."""
    words = f"{found.setting.name}: "
    curves = [
        (f"{words}{name}", *(f"{mean:.4f} ± {sd:.4f}" for mean, sd in zip(v.mean(axis=1), _scatter(v), strict=True)))
        for name, v in ((name, values[RECALL]) for name, values in found.values.items())
    ]
    levels = [(f"{words}{name}", found.references[name][RECALL]) for name in (CEILING, FLOOR)]
    same = [(name, *([f"{v.mean():.4f} ± {_scatter(v):.4f}"] * len(found.epsilons))) for name, v in levels]
    return [*curves, *same]


def _settings(texts: Texts, request: Request) -> dict[str, Any]:
    return {
        "epsilons": [None if math.isinf(one) else one for one in (QUICK_EPSILONS if request.quick else EPSILONS)],
        "delta": "1/(n ln n)",
        "adjacency": ADJACENCY,
        "topics": list(texts.names),
        "another mixture": f"of the largest topic {TAKEN:.0%} private or held out, half as many of each next one; the "
        "pool has the same number of each",
        "same mixture": "parts of the same sizes drawn from the whole file",
        "n/m": {one.name: one.ratio for one in SETTINGS},
        "rounds": ROUNDS,
        "variations": VARIATIONS,
        "start": f"{START}m texts of the pool",
        "scales": [FIRST_SCALE, LAST_SCALE],
        "generator": f"a share (the scale) of a text's sentences exchanged for those of one of its {MIXED} nearest "
        "texts of the pool; at scale 1 that text itself",
        "embedder": request.embedder or DEFAULT,
        "selection": "as the product makes them: signed votes for the Gaussian and LinMix, shrunk towards public votes "
        "for PubMix under subsample; tau = 2 sigma; R = 10 times the largest distance to a centre, k-means with m "
        "centres on the pool",
        "draws": "2n over all rounds for LinMix and PubMix, as a run of the product has",
        "seeds": request.seeds,
        "quick": request.quick,
    }


def _numbers(found: Measured) -> dict[str, Any]:
    n, m, pool = found.sizes
    return {
        "name": found.setting.name,
        "n": n,
        "m": m,
        "public": pool,
        "values": {name: {metric: v.tolist() for metric, v in one.items()} for name, one in found.values.items()},
        "references": {
            name: {metric: v.tolist() for metric, v in one.items()} for name, one in found.references.items()
        },
        "smallest_topic_share": found.share.tolist(),
    }
