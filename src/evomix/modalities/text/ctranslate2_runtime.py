"""The runtime of the local models: CTranslate2, and what must be settled before it is loaded."""

import os
import re
from types import ModuleType

from evomix.core.errors import EnvironmentFailure, SpecError

INSTALL_TEXT = 'pip install "evomix[text]"'


def load_runtime() -> ModuleType:
    """Return the module ``ctranslate2``.

    Its OpenMP threads would spin while they wait, which costs other work on a busy machine more than it gains here;
    they sleep instead, unless the environment says otherwise. The variable is read when the library is loaded.

    Raises:
        EnvironmentFailure: the runtime is not installed, or cannot be loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return load("ctranslate2")


def load(package: str) -> ModuleType:
    """Return an optional package of the extra ``text``.

    Raises:
        EnvironmentFailure: it is not installed, or cannot be loaded.
    """
    import importlib  # noqa: PLC0415

    try:
        return importlib.import_module(package)
    except (ImportError, OSError) as error:  # OSError: a shared library of it is missing
        raise EnvironmentFailure(
            f"local models need a package that cannot be loaded: package={package}; {INSTALL_TEXT}"
        ) from error


def usable_cores() -> int:
    """Return how many cores this process may use: what the system grants, less where ``OMP_NUM_THREADS`` says so."""
    affinity = getattr(os, "sched_getaffinity", None)
    granted = len(affinity(0)) if affinity is not None else (os.cpu_count() or 1)
    wished = os.environ.get("OMP_NUM_THREADS", "")
    return min(granted, int(wished)) if re.fullmatch(r"[1-9][0-9]{0,5}", wished) else granted


def thread_count(threads: int | None) -> int:
    """Return the threads to use, by default the usable cores.

    Raises:
        SpecError: fewer than one.
    """
    if threads is None:
        return usable_cores()
    if threads < 1:
        raise SpecError(f"threads must be at least 1: threads={threads}")
    return threads
