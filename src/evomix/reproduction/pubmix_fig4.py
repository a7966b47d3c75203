"""PubMix, Figure 4: distance between the private votes and the synthetic rows."""

from evomix.reproduction.distance_figure import distance_figure
from evomix.reproduction.figure import Reproduction, Request


def pubmix_fig4(request: Request) -> Reproduction:
    """Return the figure.

    Raises:
        SpecError: no table of states.
        InputFileError: too few states or rows.
    """
    return distance_figure(request, drawn=True, title="Private votes and synthetic rows")
