"""Which rivals there are, by name; each is imported when it is first run, for some load heavy libraries."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evomix.bench.rivals.task import Rival
from evomix.core.errors import EnvironmentFailure


@dataclass(frozen=True, slots=True)
class RivalEntry:
    """A rival, before it is imported.

    Attributes:
        name: how it is called.
        title: for readers.
        load: imports it.
        source: where it was published.
        needs_public: whether it cannot work without public rows.
        library: what else must be installed, by the name of its module; None for nothing.
    """

    name: str
    title: str
    load: Callable[[], Rival]
    source: str
    needs_public: bool = False
    library: str | None = None


def _independent() -> Rival:
    from evomix.bench.rivals.independent import independent  # noqa: PLC0415

    return independent


def _mst() -> Rival:
    from evomix.bench.rivals.mst import mst  # noqa: PLC0415

    return mst


def _aim() -> Rival:
    from evomix.bench.rivals.aim import aim  # noqa: PLC0415

    return aim


def _aim_target() -> Rival:
    from evomix.bench.rivals.aim import aim_target  # noqa: PLC0415

    return aim_target


def _aim_three_way() -> Rival:
    from evomix.bench.rivals.aim import aim_three_way  # noqa: PLC0415

    return aim_three_way


def _privsyn() -> Rival:
    from evomix.bench.rivals.privsyn import privsyn  # noqa: PLC0415

    return privsyn


def _gem() -> Rival:
    from evomix.bench.rivals.gem import gem  # noqa: PLC0415

    return gem


def _gem_pub() -> Rival:
    from evomix.bench.rivals.gem import gem_pub  # noqa: PLC0415

    return gem_pub


def _gsd() -> Rival:
    from evomix.bench.rivals.gsd import gsd  # noqa: PLC0415

    return gsd


def _tab_pe() -> Rival:
    from evomix.bench.rivals.tab_pe import tab_pe  # noqa: PLC0415

    return tab_pe


def _jam() -> Rival:
    from evomix.bench.rivals.jam import jam  # noqa: PLC0415

    return jam


def _pmw_pub() -> Rival:
    from evomix.bench.rivals.pmw_pub import pmw_pub  # noqa: PLC0415

    return pmw_pub


_AIM_PAPER: Final = "McKenna, Mullins, Sheldon and Miklau (2022)"
_GEM_PAPER: Final = "Liu, Vietri and Wu (2021)"
RIVALS: Final = (
    RivalEntry("independent", "independent columns", _independent, "noisy one-way marginals"),
    RivalEntry("mst", "MST", _mst, "McKenna, Miklau and Sheldon (2021)"),
    RivalEntry("aim", "AIM", _aim, _AIM_PAPER),
    RivalEntry("aim-target", "AIM, pairs with the target", _aim_target, _AIM_PAPER),
    RivalEntry("aim-three-way", "AIM, three-way", _aim_three_way, _AIM_PAPER),
    RivalEntry("privsyn", "PrivSyn", _privsyn, "Zhang et al. (2021)"),
    RivalEntry("gem", "GEM", _gem, _GEM_PAPER, library="torch"),
    RivalEntry("gsd", "Private-GSD", _gsd, "Liu, Tang, Vietri and Wu (2023)"),
    RivalEntry("tab-pe", "Tab-PE", _tab_pe, "Tran et al. (2026)"),
    RivalEntry("jam", "JAM-PGM", _jam, "Fuentes et al. (2024)", needs_public=True),
    RivalEntry("pmw-pub", "PMW^Pub", _pmw_pub, "Liu et al. (2021)", needs_public=True),
    RivalEntry("gem-pub", "GEM^Pub", _gem_pub, _GEM_PAPER, needs_public=True, library="torch"),
)
"""All run at the defaults that they were published with, which their modules name, under the relation of the task."""
USUAL: Final = ("independent", "mst", "aim", "privsyn", "gem", "gsd", "tab-pe", "jam", "pmw-pub", "gem-pub")
"""Those that a benchmark runs which is told no methods, as far as they are installed."""


def find_rival(name: str) -> RivalEntry | None:
    """Return the rival called ``name``, if there is one."""
    return next((one for one in RIVALS if one.name == name), None)


def is_installed(entry: RivalEntry) -> bool:
    """Tell whether what a rival needs is installed; nothing is imported."""
    return entry.library is None or importlib.util.find_spec(entry.library) is not None


def load_rival(entry: RivalEntry) -> Rival:
    """Import a rival.

    Raises:
        EnvironmentFailure: the library that it needs is not installed.
    """
    if not is_installed(entry):
        raise EnvironmentFailure(
            f"method={entry.name!r} needs the library {entry.library!r}, which is not installed; pip install "
            '"evomix[baselines]", or leave the method out'
        )
    return entry.load()
