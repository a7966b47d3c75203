"""Named bundles of settings: the algorithms of the papers, and what comes of crossing them."""

from collections.abc import Mapping
from typing import Any, Final

from evomix.core.arguments import shown
from evomix.core.errors import SpecError

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    # Private Evolution as first published: noisy votes, cut at 0, are what parents are drawn by (Lin et al. 2024).
    "pe": {"mechanism": "gaussian", "selection": "subsample", "denoising": "none"},
    # Aug-PE: the largest noisy votes (Xie et al. 2024).
    "aug-pe": {"mechanism": "gaussian", "selection": "rank", "denoising": "signed"},
    # "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 4.
    "gape": {"mechanism": "gaussian", "selection": "gape", "denoising": "signed"},
    # The algorithm of its Theorem 3.4 (González et al. 2025); seven scales reach down to 1/64.
    "pe-theory": {
        "mechanism": "gaussian",
        "selection": "projection",
        "denoising": "signed",
        "schedule": "multiscale",
        "variations": 7,
    },
    # The draws themselves are the parents (Vithana et al. 2026).
    "pubmix": {"mechanism": "pubmix", "selection": "subsample", "denoising": "none"},
    # Both papers together: the draws as a signed estimate, in which the known noise is taken out.
    "pubmix-gape": {"mechanism": "pubmix", "selection": "gape", "denoising": "signed"},
}
"""Settings by name of the preset. They are the published ones, not the best for tables: a run without a preset leans on
public votes as well. A setting that is given otherwise wins over its preset's."""


def preset_settings(name: Any) -> Mapping[str, Any]:
    """Return the settings of a preset; none for ``None``.

    Raises:
        SpecError: it is not the name of a preset.
    """
    if name is None:
        return {}
    if not isinstance(name, str) or name not in PRESETS:
        raise SpecError(f"preset must be one of {', '.join(PRESETS)}; found preset={shown(name)}")
    return PRESETS[name]
