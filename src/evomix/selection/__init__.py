"""Release to parents: pure functions, post-processing that costs no privacy.

``SELECTIONS`` and ``DENOISINGS`` map the names a user may give to the selections and the functions.
"""

from evomix.selection.denoising import DENOISINGS, posterior_weights
from evomix.selection.gape import gape
from evomix.selection.local_search import Chosen, local_search
from evomix.selection.ls_cost import ls_cost
from evomix.selection.methods import SELECTIONS, make_selection
from evomix.selection.projection import project
from evomix.selection.radius import cluster_radius
from evomix.selection.rank import rank
from evomix.selection.subsample import subsample
from evomix.selection.threshold import theory_multiple, vote_threshold

__all__ = [
    "DENOISINGS",
    "SELECTIONS",
    "Chosen",
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
]
