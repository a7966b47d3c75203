"""The names users may rely on. A change here is a change of the interface: say so in CHANGELOG.md."""

import importlib

import pytest

SURFACE = {
    "evomix": {"Plan", "Result", "TableSynthesizer", "evaluate", "plan", "synthesize"},
    "evomix.privacy": {
        "Budget",
        "GaussianRound",
        "LaplaceRound",
        "Ledger",
        "MixingRound",
        "NoiseDesign",
        "RenyiFilter",
        "RoundShape",
        "accountant_of",
        "bounded_delta",
        "bounded_mixing_weight",
        "calibrate_rounds",
        "compare_donors",
        "composed_delta",
        "composed_epsilon",
        "convert_guarantee",
        "delta",
        "design_noise",
        "gaussian_delta",
        "gaussian_epsilon",
        "gaussian_stddev",
        "laplace_delta",
        "laplace_epsilon",
        "laplace_scale",
        "lemma_h1_delta",
        "lemma_h1_weight",
        "max_draws",
        "mixing_weight",
        "proximity",
        "raise_floor",
        "renyi_divergence",
        "water_fill",
        "worst_case_tv",
        "worst_set",
    },
    "evomix.audit": {"Audit", "Claim", "Count", "Release", "Tally", "WorstCaseDraws", "WorstCaseVotes", "audit"},
    "evomix.metrics": {
        "ClusterCoverage",
        "Comparison",
        "MEASURES",
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
    },
    "evomix.selection": {
        "Chosen",
        "DENOISINGS",
        "SELECTIONS",
        "cluster_radius",
        "gape",
        "local_search",
        "ls_cost",
        "make_selection",
        "posterior_weights",
        "project",
        "rank",
        "subsample",
        "theory_multiple",
        "vote_threshold",
    },
    "evomix.transport": {"PointTransport", "Transport", "wasserstein_cost"},
}


@pytest.mark.parametrize("module", SURFACE)
def test_public_names_are_frozen(module):
    found = importlib.import_module(module)
    assert set(found.__all__) == SURFACE[module]
    assert len(found.__all__) == len(set(found.__all__))
    for name in found.__all__:
        assert getattr(found, name) is not None
