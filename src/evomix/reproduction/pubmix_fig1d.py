"""PubMix, Figure 1(d): distance between the private votes and the law from which rows are drawn."""

from evomix.reproduction.distance_figure import distance_figure
from evomix.reproduction.figure import Reproduction, Request


def pubmix_fig1d(request: Request) -> Reproduction:
    """Return the figure.

    Raises:
        SpecError: no table of states.
        InputFileError: too few states or rows.
    """
    return distance_figure(request, drawn=False, title="Private votes and the law of the synthetic rows")
