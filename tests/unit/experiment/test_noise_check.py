"""A run whose noise cannot be drawn is refused before it is charged."""

from dataclasses import replace

import pytest
from experiment_tables import counted_spec

from evomix.core.errors import EnvironmentFailure, PrivacyError
from evomix.experiment.run import synthesize_to_file
from evomix.privacy import Ledger, lattice_noise

BROKEN = ImportError("opendp was built for another machine")


@pytest.fixture(autouse=True)
def _fresh():
    for sampler in (lattice_noise._gaussian, lattice_noise._laplace):
        sampler.cache_clear()


@pytest.mark.parametrize("settings", [{}, {"mechanism": "gaussian"}, {"mechanism": "laplace"}], ids=str)
@pytest.mark.parametrize("accounting", ["auto", "renyi"])
def test_without_the_library_nothing_is_charged(tmp_path, monkeypatch, settings, accounting):
    if accounting == "renyi":
        settings = settings | {"accounting": accounting}
    method = "votes" if settings else "marginals"
    spec = counted_spec(tmp_path, method=method, **settings)

    def missing():
        raise BROKEN

    with monkeypatch.context() as patched:
        patched.setattr(lattice_noise, "_opendp", missing)
        if settings == {"accounting": "renyi"}:  # draws need no library
            assert synthesize_to_file(spec).privacy["mechanism"] == "linmix"
            return
        with pytest.raises(EnvironmentFailure, match=r"another machine.*Nothing was drawn"):
            synthesize_to_file(spec)
    assert Ledger().entries() == ()
    assert synthesize_to_file(replace(spec, overwrite=True)).privacy["epsilon"] == 1.0


def test_a_library_that_proves_less_is_refused_before_the_charge(tmp_path, monkeypatch):
    monkeypatch.setattr(lattice_noise, "_MARGIN", 0.5)
    with pytest.raises(PrivacyError, match="OpenDP"):
        synthesize_to_file(counted_spec(tmp_path))
    assert Ledger().entries() == ()
