"""What can be reproduced, without loading what computes it."""

from dataclasses import dataclass
from typing import Final

PUBMIX: Final = (
    "S. Vithana, S. Jung, H. Hu, V. R. Cadambe, F. P. Calmon, H. Jeong. Optimal Domain-Aware Privacy Mechanisms for "
    "Synthetic Data Generation. Preprint, 2026."
)

GAPE: Final = "Understanding Private Evolution as Learning-Augmented Clustering. Preprint, 2026."


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure.

    Attributes:
        name: what the command line calls it.
        figure: what the paper calls it.
        what: what it shows.
        needs_data: whether it reads a table.
        time: how long a full run takes on two cores, in words.
        seeds: repetitions of a full run by default; 0 where nothing is random.
        paper: reference of the paper.
        texts: whether the table holds texts, not states.
    """

    name: str
    figure: str
    what: str
    needs_data: bool
    time: str
    seeds: int
    paper: str = PUBMIX
    texts: bool = False

    @property
    def known_as(self) -> str:
        """What the paper is called in a word."""
        return "GAPE" if self.paper == GAPE else "PubMix"


CATALOG: Final = (
    Entry("pubmix-fig1d", "Figure 1(d)", "distance of the release law from the private votes", True, "1 min", 5),
    Entry("pubmix-fig2", "Figure 2", "least mixing weight against the floor of the noise", False, "1 s", 0),
    Entry("pubmix-fig3", "Figure 3", "two ways of raising a floor", False, "1 s", 0),
    Entry("pubmix-fig4", "Figure 4", "distance of the synthetic rows from the private votes", True, "1 min", 10),
    Entry("pubmix-fig5", "Figure 5", "a regressor trained on synthetic rows", True, "2 min", 5),
    Entry("pubmix-fig7", "Figure 7", "closed form of the noise design against the exact optimum", False, "20 s", 0),
    Entry("gape-fig1", "Figure 1", "a curve on which Private Evolution stalls", False, "2 min", 20, GAPE),
    Entry("gape-fig6-8", "Figures 6 to 8", "which selection keeps a small cluster", False, "2 min", 100, GAPE),
    Entry("gape-theorem-3-4", "Theorem 3.4", "how fast W1 falls, and how far", False, "5 min", 10, GAPE),
    Entry("gape-theorem-4-2", "Theorem 4.2", "how small a cluster each selection keeps", False, "10 min", 40, GAPE),
    Entry("gape-texts", "Figures 2 and 3, Table 1", "GAPE on embedded texts", True, "15 min", 5, GAPE, texts=True),
)


def entry(name: str) -> Entry:
    """Return the figure called ``name``; a ``KeyError`` where there is none."""
    return {one.name: one for one in CATALOG}[name]
