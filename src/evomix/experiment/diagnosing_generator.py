"""``evomix diagnose generator``: would Private Evolution get anywhere with this generator?

Public data only; no private file is opened and nothing is charged. Some public rows are held out as targets and the
generator learns from the others: one that had seen its targets would copy them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arguments import whole
from evomix.core.arrays import Population
from evomix.core.errors import SpecError
from evomix.core.schedule import multiscale
from evomix.diagnosis.pairs import serving
from evomix.diagnosis.reachability import approach, ceilings
from evomix.diagnosis.stall import stalled
from evomix.diagnosis.steps import LEAST_VARIATIONS, Steps, measure_steps
from evomix.experiment.generator_findings import told_approach, told_ceiling, told_scale, verdict, warnings
from evomix.experiment.public_side import PublicTables, read_public, refuse_texts
from evomix.experiment.spec import check_counts
from evomix.modalities.tabular.generator import TableGenerator
from evomix.modalities.tabular.modality import TableModality, build_table_modality
from evomix.modalities.tabular.transform import learn_transforms

POINTS: Final = 200
VARIATIONS: Final = 64
ROUNDS: Final = 12
SCALES: Final = multiscale(0, 1, 4)
"""Full steps down to an eighth; a run's own go down to a tenth."""
HELD_OUT: Final = 0.25
"""Most of the public rows that are held out as targets."""
LEAST_ROWS: Final = 40
"""Fewer public rows do not give ten targets."""
SAMPLES: Final = 5
"""Samples of public rows that a ceiling is averaged over."""
MOST_POINTS: Final = 10_000
MOST_VARIATIONS: Final = 4096
MOST_MADE: Final = 2_000_000
"""Variations of one scale; they are held in memory."""
MOST_ROUNDS: Final = 200
OWN, EVEN = "first candidates", "random records"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a diagnosis stands on; public.

    Attributes:
        modality: generator and geometry, learned without the targets.
        start: (m, …), what the generator proposes first.
        targets: (n, …), held-out public rows, or records of the generator where there are too few.
        even: (m, …), records that are even over the schema: unlike the public ones. ``None`` without held-out rows.
    """

    modality: TableModality
    start: Population
    targets: Population
    even: Population | None


def diagnose_generator(
    public: Sequence[Any] = (),
    *,
    schema: Any = None,
    unit: str | None = None,
    points: int = POINTS,
    variations: int = VARIATIONS,
    rounds: int = ROUNDS,
    seed: int = 0,
    public_encoding: str = "utf-8",
) -> dict[str, Any]:
    """Say how far variations go, in how many directions, how much of it towards data, and how near they come.

    Args:
        public: one table or several; none needs a schema, and then nothing is said of how near variations come.
        schema: of the columns; by default that of the public rows.
        unit: column that names the private unit, if the tables have it; never modelled.
        points: targets, and records of a population.
        variations: of each record at each scale, to measure their spread. An effective rank errs by about
            √(2/variations) of itself.
        rounds: of an evolution without noise towards the targets.
        seed: of the public randomness.
        public_encoding: of text files.

    Returns:
        Plain values; what cannot be told is ``None``.

    Raises:
        SpecError: a number is out of range, or there is neither a table nor a schema.
        SchemaError: names or types do not agree, or there is nothing to model.
        InputFileError: a file cannot be read.
    """
    points = whole("points", points, least=2, most=MOST_POINTS)
    variations = whole("variations", variations, least=LEAST_VARIATIONS, most=MOST_VARIATIONS)
    rounds = whole("rounds", rounds, least=1, most=MOST_ROUNDS)
    if points * variations > MOST_MADE:
        raise SpecError(
            f"points={points} times variations={variations} are more than {MOST_MADE} records, which are held in "
            "memory; take fewer of either"
        )
    if not public and schema is None:
        raise SpecError("name at least one public table, or give a schema (--schema SCHEMA.json) to try random records")
    rng = np.random.default_rng(check_counts({"seed": seed})["seed"] or 0)
    read = read_public(public, schema, unit=unit, encoding=public_encoding)
    refuse_texts(read)
    ground = _ground(read, points, rng)
    vectors = ground.modality.embedder.vectors
    steps = _steps(ground, variations, rng)
    told: dict[str, Any] = {
        "public_rows": list(read.sets),
        "held_out": 0 if ground.even is None else len(ground.targets),
        "coordinates": int(vectors(np.concatenate([ground.start, ground.targets])).shape[1]),
        "points": len(steps[0].length) if steps else 0,
        "variations": variations,
        "rounds": rounds,
        "scales": [told_scale(one, rng) for one in steps],
        "theorem": _theorem(steps),
        "ceiling": None,
        "approaches": [],
        "seed": seed,
    }
    if ground.even is not None:
        _tell_reach(told, ground, rounds=rounds, variations=variations, rng=rng)
    told["verdict"] = verdict(told)
    told["warnings"] = [*read.warnings, *warnings(told, least_rows=LEAST_ROWS)]
    return told


def _ground(read: PublicTables, points: int, rng: np.random.Generator) -> Ground:
    """Hold out targets, if there are rows enough, and learn the generator from the other rows."""
    rows = 0 if read.rows is None else read.rows.num_rows
    if read.rows is None or rows < LEAST_ROWS:
        modality = build_table_modality(read.schema, read.rows, target=None)
        proposed = modality.generator.random(2 * points, rng)
        return Ground(modality, proposed[:points], proposed[points:], None)
    order = rng.permutation(rows)
    held = min(points, int(HELD_OUT * rows))
    modality = build_table_modality(read.schema, read.rows.take(np.sort(order[held:])), target=None)
    targets = np.asarray(modality.codec.encode(read.rows.take(np.sort(order[:held]))), dtype=np.float64)
    uninformed = TableGenerator(read.schema, learn_transforms(read.schema, modality.public))
    return Ground(modality, modality.generator.random(held, rng), targets, uninformed.random(held, rng))


def _steps(ground: Ground, variations: int, rng: np.random.Generator) -> list[Steps]:
    """Return what variations do at each scale; nothing where every target is a record of the population."""
    vectors = ground.modality.embedder.vectors
    pairs = serving(ground.start, ground.targets, vectors)
    if not len(pairs.parents):
        return []
    return [
        measure_steps(ground.modality.generator, vectors, pairs, scale=scale, variations=variations, rng=rng)
        for scale in SCALES
    ]


def _theorem(steps: Sequence[Steps]) -> float | None:
    """Return the factor a round that Theorem 3.4 promises the median pair, at the scale that serves it least."""
    return None if not steps else 1.0 - min(float(np.median(one.gain)) for one in steps)


def _tell_reach(
    told: dict[str, Any], ground: Ground, *, rounds: int, variations: int, rng: np.random.Generator
) -> None:
    """Add the ceiling and the evolutions from both starts."""
    generator, vectors = ground.modality.generator, ground.modality.embedder.vectors
    public = ground.modality.public
    assert public is not None
    assert ground.even is not None
    ceiling = ceilings(vectors, ground.targets, public, size=len(ground.targets), samples=SAMPLES, rng=rng)
    told["ceiling"] = told_ceiling(ceiling, rng)
    for name, start in ((OWN, ground.start), (EVEN, ground.even)):
        reached = approach(generator, vectors, ground.targets, start=start, scales=SCALES, rounds=rounds, rng=rng)
        stuck = stalled(generator, vectors, reached, ceiling, variations=variations, rng=rng)
        told["approaches"].append({"from": name, **told_approach(reached.distances, ceiling, stuck, rng)})
