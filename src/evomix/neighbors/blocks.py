"""Running a search over blocks of records on all cores."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba


def for_each_block(work: Callable[[slice], None], *, rows: int, block: int) -> None:
    """Call ``work`` with slices that cover ``range(rows)`` once, on as many threads as Numba is allowed.

    Plain threads rather than Numba's own: its portable layer aborts the process when two threads enter it,
    its OpenMP layer when the process forks afterwards, and neither lets Ctrl-C through between blocks.
    ``NUMBA_NUM_THREADS`` in the environment sets the number.

    Args:
        work: does one block, writing to its own rows only; threads help where it drops the interpreter lock.
        rows: number of rows to cover.
        block: rows in a block.
    """
    slices = [slice(start, min(start + block, rows)) for start in range(0, rows, block)]
    threads = min(len(slices), numba.config.NUMBA_NUM_THREADS)
    if threads <= 1:
        for part in slices:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, slices):
            pass  # asking for the result is what raises a block's error here
