"""Every error evomix raises on purpose.

    EvomixError                    exit code
    ├── SpecError                  2   an option or argument is wrong
    ├── InputFileError             2   a file cannot be read as what it should be
    ├── SchemaError                2   columns, types or bounds do not fit
    ├── PrivacyError               3
    │   ├── BudgetExceeded         3   the ledger refuses the charge
    │   └── UnsupportedAdjacency   3   no theorem covers this mechanism under this relation
    ├── EnvironmentFailure         4   disk, network, model or an outside library failed
    │   └── PrivateRecordsFailure  4   reading or voting private records failed; the cause is withheld
    └── GeneratorError             4   a generator gave nothing usable

A message says what was expected, the ``name=value`` found and what to do next. Values of *private* records are
never part of a message: errors about them name column and rule only.
"""

from typing import ClassVar


class EvomixError(Exception):
    """Base of all errors evomix raises on purpose; ``exit_code`` is what the command line returns."""

    exit_code: ClassVar[int] = 4


class SpecError(EvomixError, ValueError):
    """An option or an argument is wrong."""

    exit_code = 2


class InputFileError(EvomixError):
    """A file cannot be read as what it should be; names file, place and rule, never a cell."""

    exit_code = 2


class SchemaError(EvomixError):
    """Columns, types or bounds do not fit."""

    exit_code = 2


class PrivacyError(EvomixError):
    """Going on would break the guarantee."""

    exit_code = 3


class BudgetExceeded(PrivacyError):  # noqa: N818  (a refusal, not a fault)
    """The ledger refuses a charge that would exceed the data set's budget."""


class UnsupportedAdjacency(PrivacyError):  # noqa: N818
    """No theorem covers this mechanism under this neighbour relation."""


class EnvironmentFailure(EvomixError):  # noqa: N818
    """Disk, network, model or an outside library failed."""

    exit_code = 4


class PrivateRecordsFailure(EnvironmentFailure):
    """Reading or voting private records failed; the cause is withheld because it may quote them."""


class GeneratorError(EvomixError):
    """A generator gave nothing usable."""

    exit_code = 4
