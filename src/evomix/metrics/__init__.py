"""How alike two sets of points are: exact figures, each to be read beside its ceiling and floor.

Points are embedding vectors, numbers (n, k) with Euclidean distances. :func:`compare` takes all figures at once, with
real points in the synthetic ones' place as the ceiling and public points as the floor. docs/metrics.md says what
fools each.

A figure reads every point that it is given. Where real points are private, so is the figure: it costs ε = ∞.
"""

from evomix.metrics.clusters import ClusterCoverage, cluster_coverage, label_coverage
from evomix.metrics.comparison import MEASURES, Comparison, Row, compare
from evomix.metrics.frechet import frechet
from evomix.metrics.mauve import mauve
from evomix.metrics.precision_recall import precision, recall, synthetic_recall
from evomix.metrics.wasserstein import Measure, wasserstein

__all__ = [
    "MEASURES",
    "ClusterCoverage",
    "Comparison",
    "Measure",
    "Row",
    "cluster_coverage",
    "compare",
    "frechet",
    "label_coverage",
    "mauve",
    "precision",
    "recall",
    "synthetic_recall",
    "wasserstein",
]
