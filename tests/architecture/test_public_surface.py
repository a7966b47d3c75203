"""The names users may rely on. A change here is a change of the interface: say so in CHANGELOG.md."""

import importlib

import pytest

SURFACE = {
    "evomix": {"Plan", "Result", "TableSynthesizer", "evaluate", "plan", "synthesize"},
    "evomix.privacy": {
        "Budget",
        "Ledger",
        "NoiseDesign",
        "delta",
        "design_noise",
        "gaussian_delta",
        "gaussian_epsilon",
        "gaussian_stddev",
        "laplace_delta",
        "laplace_epsilon",
        "laplace_scale",
        "max_draws",
        "mixing_weight",
        "proximity",
        "raise_floor",
        "water_fill",
        "worst_case_tv",
    },
    "evomix.selection": {"SELECTIONS", "rank", "subsample"},
}


@pytest.mark.parametrize("module", SURFACE)
def test_public_names_are_frozen(module):
    found = importlib.import_module(module)
    assert set(found.__all__) == SURFACE[module]
    assert len(found.__all__) == len(set(found.__all__))
    for name in found.__all__:
        assert getattr(found, name) is not None
