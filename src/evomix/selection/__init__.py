"""Release to parents: pure functions, post-processing that costs no privacy.

``SELECTIONS`` and ``DENOISINGS`` map the names a user may give to the functions.
"""

from typing import Final

from evomix.selection.denoising import DENOISINGS, DenoisingSelection, posterior_weights
from evomix.selection.rank import rank
from evomix.selection.subsample import subsample

__all__ = ["DENOISINGS", "SELECTIONS", "posterior_weights", "rank", "subsample"]

SELECTIONS: Final[dict[str, DenoisingSelection]] = {"subsample": subsample, "rank": rank}
