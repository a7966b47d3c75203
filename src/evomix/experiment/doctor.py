"""Is everything here that a run needs: versions, extras, text models, threads, randomness, ledger, compiler cache.

Nothing is written, and no private record is opened.
"""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from evomix.modalities.text.conversion_cache import Conversion
from evomix.modalities.text.packaged import ENCODER, WRITER, ModelPackage

REQUIRED = (
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "numba",
    "scikit-learn",
    "opendp",
    "typer",
    "rich",
)
EXTRAS = {
    "demo": ("statsmodels",),
    "text": ("ctranslate2", "tokenizers", "gguf", "safetensors", "openai"),
}


class Check(TypedDict):
    """One finding: what was looked at, whether a run can rely on it, and what was seen."""

    name: str
    ok: bool
    detail: str


def checks(ledger: Path | None = None) -> list[Check]:
    """Return what was found, in a fixed order; a check that fails for any reason is a finding, not an error.

    Args:
        ledger: the ledger's file; by default the one that runs would use.
    """
    looks: tuple[tuple[str, Callable[[], tuple[bool, str]]], ...] = (
        ("python", _python),
        ("packages", _packages),
        ("extras", _extras),
        ("packaged language model", _language_model),
        ("packaged sentence encoder", _sentence_encoder),
        ("threads", _threads),
        ("operating system randomness", _entropy),
        ("OpenDP sampler", _sampler),
        ("ledger", lambda: _ledger(ledger)),
        ("compiler cache", _compiler_cache),
    )
    return [_look(name, look) for name, look in looks]


def _look(name: str, look: Callable[[], tuple[bool, str]]) -> Check:
    try:
        ok, detail = look()
    except Exception as error:  # noqa: BLE001  (a broken installation can raise anything)
        ok, detail = False, f"{type(error).__name__}: {error}"
    return {"name": name, "ok": ok, "detail": detail}


def _python() -> tuple[bool, str]:
    return sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform(terse=True)}"


def _packages() -> tuple[bool, str]:
    versions = {name: _version(name) for name in ("evomix", *REQUIRED)}
    missing = [name for name, version in versions.items() if version is None]
    detail = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
    return not missing, detail + (f"; missing: {', '.join(missing)}" if missing else "")


def _extras() -> tuple[bool, str]:
    found = []
    for extra, packages in EXTRAS.items():
        versions = {package: _version(package) for package in packages}
        missing = [package for package, version in versions.items() if version is None]
        detail = ", ".join(f"{package} {version}" for package, version in versions.items() if version is not None)
        lacking = f'{", ".join(missing)} not installed (pip install "evomix[{extra}]")' if missing else ""
        found.append(f"{extra}: " + ", ".join(part for part in (detail, lacking) if part))
    return True, "; ".join(found)  # an extra that is not there is a choice, not a fault


def _language_model() -> tuple[bool, str]:
    from evomix.modalities.text.llama_conversion import llama_conversion  # noqa: PLC0415

    return True, _text_model(WRITER, llama_conversion)


def _sentence_encoder() -> tuple[bool, str]:
    from evomix.modalities.text.minilm_conversion import minilm_conversion  # noqa: PLC0415

    return True, _text_model(ENCODER, minilm_conversion)


def _text_model(package: ModelPackage, conversion: Callable[[Path], Conversion]) -> str:
    path = package.find()
    if path is None:  # a choice as well
        return f"{package.distribution} not installed (evomix doctor --install-text)"
    made = conversion(path)
    state = f"converted in {made.folder}" if made.there else "not converted yet (done at first use, some seconds)"
    return f"{package.distribution} {_version(package.distribution) or 'of no known version'}: {path}; {state}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _threads() -> tuple[bool, str]:
    import numba  # noqa: PLC0415  (a second that only this check pays)

    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else (os.cpu_count() or 1)
    threads = int(numba.get_num_threads())
    return threads >= 1, f"{threads} threads on {cores} usable cores"


def _entropy() -> tuple[bool, str]:
    # Equal or constant blocks have probability 2^-256; they mean a source that answers without entropy.
    first, second = os.urandom(32), os.urandom(32)
    working = first != second and len(set(first)) > 1 and len(set(second)) > 1
    return (
        working,
        "two blocks of 256 bits differ" if working else "os.urandom repeats itself: make no release here",
    )


def _sampler() -> tuple[bool, str]:
    import numpy as np  # noqa: PLC0415

    from evomix.privacy.lattice_noise import LATTICE, add_gaussian  # noqa: PLC0415

    noise = add_gaussian(np.zeros(2000, dtype=np.int64), stddev=1.0) / LATTICE
    spread = float(np.std(noise))
    # Standard error of the spread is 0.016: a working sampler is outside once in 10^18, half noise always.
    return 0.85 < spread < 1.15, f"2000 draws of stddev 1 spread by {spread:.3f}"


def _ledger(path: Path | None) -> tuple[bool, str]:
    from evomix.privacy.ledger import Ledger  # noqa: PLC0415

    ledger = Ledger(path)
    if ledger.path.exists():
        datasets = len(ledger.datasets())
        return os.access(ledger.path, os.R_OK | os.W_OK), f"{ledger.path} ({datasets} data sets)"
    folder = next(parent for parent in ledger.path.absolute().parents if parent.exists())
    writable = folder.is_dir() and os.access(folder, os.W_OK)
    return writable, f"{ledger.path} (not there yet; {'can' if writable else 'cannot'} be made)"


def _compiler_cache() -> tuple[bool, str]:
    import numba.core.config  # noqa: PLC0415

    import evomix.neighbors  # noqa: PLC0415

    named = numba.core.config.CACHE_DIR
    folder = Path(named) if named else Path(next(iter(evomix.neighbors.__path__)))
    writable = os.access(folder if folder.exists() else folder.parent, os.W_OK)
    # Numba falls back to a cache of the user's; then only the first run of each user waits for the compiler.
    return (
        True,
        f"{folder}" if writable else f"{folder} is read-only: numba keeps a cache in the user's own folder",
    )
