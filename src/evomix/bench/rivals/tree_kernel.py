"""Running lists of small array operations on one flat buffer, without the interpreter between them."""

from enum import IntEnum
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled


class Operation(IntEnum):
    """What is done with a large array (a, x, b), a small array (a, b), or one of them alone."""

    SPREAD_SET = 0  # large = small, for every x
    SPREAD_ADD = 1  # large += small
    SPREAD_MULTIPLY = 2  # large *= small
    SUM = 3  # small = sum of large over x
    MAX = 4  # small = largest of large over x
    ZERO = 5  # small = 0
    NEGATE = 6  # small = −small
    INVERT = 7  # small = 1 / small
    LOG = 8  # small = log(small)


_SET: Final = int(Operation.SPREAD_SET)
_ADD: Final = int(Operation.SPREAD_ADD)
_MULTIPLY: Final = int(Operation.SPREAD_MULTIPLY)
_SUM: Final = int(Operation.SUM)
_MAX: Final = int(Operation.MAX)
_ZERO: Final = int(Operation.ZERO)
_NEGATE: Final = int(Operation.NEGATE)
_INVERT: Final = int(Operation.INVERT)


@compiled
def run(program: IntArray, buffer: FloatArray) -> None:  # pragma: no cover  (compiled)
    """Run a program.

    Args:
        program: int64 (operations, 6): operation, offset of the large array, offset of the small array, a, x, b.
        buffer: float64, all arrays; changed in place.
    """
    for i in range(len(program)):
        code, a, x, b = program[i, 0], program[i, 3], program[i, 4], program[i, 5]
        large = buffer[program[i, 1] : program[i, 1] + a * x * b]
        small = buffer[program[i, 2] : program[i, 2] + a * b]
        if code <= _MULTIPLY:
            _spread(code, large, small, a, x, b)
        elif code <= _MAX:
            _reduce(code, large, small, a, x, b)
        else:
            _alone(code, small)


@compiled
def _spread(
    code: int, large: FloatArray, small: FloatArray, a: int, x: int, b: int
) -> None:  # pragma: no cover  (compiled)
    for i in range(a):
        row = small[i * b : (i + 1) * b]
        for j in range(x):
            piece = large[(i * x + j) * b : (i * x + j + 1) * b]
            if code == _SET:
                for k in range(b):
                    piece[k] = row[k]
            elif code == _ADD:
                for k in range(b):
                    piece[k] += row[k]
            else:
                for k in range(b):
                    piece[k] *= row[k]


@compiled
def _reduce(
    code: int, large: FloatArray, small: FloatArray, a: int, x: int, b: int
) -> None:  # pragma: no cover  (compiled)
    for i in range(a):
        row = small[i * b : (i + 1) * b]
        row[:] = large[i * x * b : (i * x + 1) * b]
        for j in range(1, x):
            piece = large[(i * x + j) * b : (i * x + j + 1) * b]
            if code == _SUM:
                for k in range(b):
                    row[k] += piece[k]
            else:
                for k in range(b):
                    row[k] = max(row[k], piece[k])


@compiled
def _alone(code: int, small: FloatArray) -> None:  # pragma: no cover  (compiled)
    for k in range(len(small)):
        if code == _ZERO:
            small[k] = 0.0
        elif code == _NEGATE:
            small[k] = -small[k]
        elif code == _INVERT:
            small[k] = 1.0 / small[k]
        else:
            small[k] = np.log(small[k])
