"""Which function makes which figure of the catalog."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from evomix.reproduction.figure import Reproduction, Request
from evomix.reproduction.gape_fig1 import gape_fig1
from evomix.reproduction.gape_fig6_8 import gape_fig6_8
from evomix.reproduction.gape_texts import gape_texts
from evomix.reproduction.gape_theorem_3_4 import gape_theorem_3_4
from evomix.reproduction.gape_theorem_4_2 import gape_theorem_4_2
from evomix.reproduction.pubmix_fig1d import pubmix_fig1d
from evomix.reproduction.pubmix_fig2 import pubmix_fig2
from evomix.reproduction.pubmix_fig3 import pubmix_fig3
from evomix.reproduction.pubmix_fig4 import pubmix_fig4
from evomix.reproduction.pubmix_fig5 import pubmix_fig5
from evomix.reproduction.pubmix_fig7 import pubmix_fig7

FIGURES: Final[Mapping[str, Callable[[Request], Reproduction]]] = MappingProxyType(
    {
        "pubmix-fig1d": pubmix_fig1d,
        "pubmix-fig2": pubmix_fig2,
        "pubmix-fig3": pubmix_fig3,
        "pubmix-fig4": pubmix_fig4,
        "pubmix-fig5": pubmix_fig5,
        "pubmix-fig7": pubmix_fig7,
        "gape-fig1": gape_fig1,
        "gape-fig6-8": gape_fig6_8,
        "gape-theorem-3-4": gape_theorem_3_4,
        "gape-theorem-4-2": gape_theorem_4_2,
        "gape-texts": gape_texts,
    }
)
