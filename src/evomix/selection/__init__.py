"""Release to parents: pure functions, post-processing that costs no privacy.

``SELECTIONS`` maps the names a user may give to the functions.
"""

from typing import Final

from evomix.core.protocols import Selection
from evomix.selection.rank import rank
from evomix.selection.subsample import subsample

__all__ = ["SELECTIONS", "rank", "subsample"]

SELECTIONS: Final[dict[str, Selection]] = {"subsample": subsample, "rank": rank}
