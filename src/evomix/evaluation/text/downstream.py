"""Train on synthetic texts, test on real ones: what a model loses by it.

Each seed splits the real texts 70/30 and tests every model on the 30. Ceilings learn from the 70 (all of it, and as
many texts as there are synthetic ones), floors from public texts (all, and as many) or from no text at all. Reads real
texts: not private.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.stats import spearmanr

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.evaluation.downstream import TEST_SHARE, TITLES, Arm, Downstream, summary
from evomix.evaluation.scores import classification_scores, rare_classes, regression_scores
from evomix.evaluation.text.learners import Learner, LinearLearner
from evomix.evaluation.text.text_set import TextSet

Task = Literal["classification", "regression"]
ARM_TITLES: Final = {
    "synthetic": "synthetic texts",
    "real_same_rows": "ceiling: as many real texts",
    "real_all": "ceiling: all real training texts",
    "public_same_rows": "floor: as many public texts",
    "public": "floor: all public texts",
    "guess": TITLES["guess"],
}
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class _Coded:
    """A target as codes or numbers; ``classes`` is empty for regression."""

    classes: tuple[str, ...]

    def codes(self, found: TextSet) -> IntArray:
        at = {name: k for k, name in enumerate(self.classes)}
        assert found.targets is not None
        return np.fromiter((at[str(target)] for target in found.targets), np.int64, len(found))

    @staticmethod
    def numbers(found: TextSet) -> FloatArray:
        assert found.targets is not None
        return np.asarray(found.targets, np.float64)


def text_downstream(
    real: TextSet,
    synthetic: TextSet,
    *,
    target: str,
    task: Task,
    public: TextSet | None = None,
    learner: Learner | None = None,
    seeds: int = 3,
    rng_seed: int = 0,
) -> Downstream:
    """Score models that predict a target from texts. Reads real texts: not private.

    Texts whose target is missing are left out; a public set without targets gives no floor. Scores are accuracy, auc,
    macro_f1 and rare_recall of classes; rmse, r2 and spearman of numbers.

    Args:
        real: texts with targets.
        synthetic: texts with targets.
        target: what messages call the target.
        task: "classification" with class names as targets, "regression" with float64 ones.
        public: public texts, with or without targets.
        learner: what learns; None: linear models on the vectors.
        seeds: number of splits, at least 1.
        rng_seed: first seed; the splits use rng_seed, rng_seed + 1, …

    Raises:
        SpecError: a task that is neither; real or synthetic texts have no targets.
    """
    learner = LinearLearner() if learner is None else learner
    sets = {"real": real, "synthetic": synthetic} | ({} if public is None else {"public": public})
    _check(task, sets, target)
    sets = {name: found.with_targets() for name, found in sets.items()}
    if len(sets["real"]) < 2:
        return Downstream(target, task, 0, 0, (), (), (f"too few real texts have a {target!r} to test a model",))
    coded = _Coded(_classes(sets) if task == "classification" else ())
    scores: dict[str, list[dict[str, float | None]]] = {}
    rows: dict[str, int] = {}
    for seed in range(rng_seed, rng_seed + seeds):
        train, test = _split(sets["real"], seed)
        for name, arm in _training_sets(sets, train, seed).items():
            scores.setdefault(name, []).append(_score(name, arm, test, coded, learner, seed))
            rows[name] = len(arm)
    _, test = _split(sets["real"], rng_seed)
    return Downstream(
        target=target,
        task=task,
        seeds=seeds,
        test_rows=len(test),
        rare=_rare(test, sets, coded),
        arms=tuple(
            Arm(name, ARM_TITLES[name], rows[name], {key: summary([r[key] for r in found]) for key in found[0]})
            for name, found in scores.items()
        ),
        warnings=_warnings(sets, test, coded, target),
    )


def _check(task: Task, sets: Mapping[str, TextSet], target: str) -> None:
    if task not in ("classification", "regression"):
        raise SpecError(f"expected task classification or regression, found task={task!r}")
    for name in ("real", "synthetic"):
        if sets[name].targets is None:
            raise SpecError(f"expected a target={target!r} of the {name} texts, found none")


def _classes(sets: Mapping[str, TextSet]) -> tuple[str, ...]:
    return tuple(sorted({str(name) for found in sets.values() if found.targets is not None for name in found.targets}))


def _split(real: TextSet, seed: int) -> tuple[TextSet, TextSet]:
    order = np.random.default_rng(seed).permutation(len(real))
    tested = min(max(round(TEST_SHARE * len(real)), 1), len(real) - 1)
    return real.take(order[tested:]), real.take(order[:tested])


def _training_sets(sets: Mapping[str, TextSet], train: TextSet, seed: int) -> dict[str, TextSet]:
    """Return the arms that have texts; "as many" is left out where it would be all of them again.

    The split has shuffled ``train``, so its head is a random sample.
    """
    size = len(sets["synthetic"])
    public = sets["public"] if "public" in sets else train.take(np.empty(0, np.int64))
    none = np.empty(0, np.int64)
    arms = {
        "synthetic": sets["synthetic"],
        "real_same_rows": train.take(np.arange(size) if size < len(train) else none),
        "real_all": train,
        "public_same_rows": public.draw(size if size < len(public) else 0, np.random.default_rng([seed, 1])),
        "public": public,
        "guess": train,
    }
    return {name: found for name, found in arms.items() if len(found)}


def _score(
    name: str, train: TextSet, test: TextSet, coded: _Coded, learner: Learner, seed: int
) -> dict[str, float | None]:
    if not coded.classes:
        targets = coded.numbers(train)
        predicted = (
            np.full(len(test), targets.mean())
            if name == "guess"
            else learner.predict_numbers(train, targets, test, seed=seed)
        )
        truth = coded.numbers(test)
        return regression_scores(truth, predicted) | {"spearman": _spearman(truth, predicted)}
    labels, classes = coded.codes(train), len(coded.classes)
    if name == "guess":
        probabilities = np.tile(np.bincount(labels, minlength=classes) / len(labels), (len(test), 1))
    else:
        probabilities = learner.predict_classes(train, labels, test, classes=classes, seed=seed)
    return classification_scores(coded.codes(test), probabilities)


def _spearman(truth: FloatArray, predicted: FloatArray) -> float | None:
    """Return the rank correlation; 0 where the prediction does not vary, None where the truth does not."""
    if np.ptp(truth) == 0.0:
        return None
    return float(spearmanr(truth, predicted).statistic) if np.ptp(predicted) > 0.0 else 0.0


def _sayable(sets: Mapping[str, TextSet], coded: _Coded) -> set[int]:
    """Return the classes that synthetic or public texts have, which may be named; others are known from real ones."""
    return {k for name in ("synthetic", "public") if name in sets for k in coded.codes(sets[name]).tolist()}


def _rare(test: TextSet, sets: Mapping[str, TextSet], coded: _Coded) -> tuple[str, ...]:
    if not coded.classes:
        return ()
    sayable = _sayable(sets, coded)
    return tuple(coded.classes[k] for k in rare_classes(coded.codes(test)) if k in sayable)


def _warnings(sets: Mapping[str, TextSet], test: TextSet, coded: _Coded, target: str) -> tuple[str, ...]:
    found = []
    if not len(sets["synthetic"]):
        found.append(f"no synthetic text has a {target!r}: no model could be trained on them")
    if "public" in sets and not len(sets["public"]):
        found.append(f"no public text has a {target!r}: there is no floor of public texts")
    if not coded.classes or not len(sets["synthetic"]):
        return tuple(found)
    lacking = sorted(set(coded.codes(test).tolist()) - set(coded.codes(sets["synthetic"]).tolist()))
    if lacking:
        found.append(
            f"the synthetic texts lack classes of {target!r}, which count as missed: "
            f"{_listed(lacking, _sayable(sets, coded), coded)}"
        )
    return tuple(found)


def _listed(lacking: Sequence[int], sayable: set[int], coded: _Coded) -> str:
    named = [repr(coded.classes[k]) for k in lacking if k in sayable]
    words = [", ".join(named[:_NAMED])] if named else []
    if more := len(lacking) - len(named[:_NAMED]):
        words.append(f"{more} more" if named else str(more))
    return " and ".join(words)
