"""Answers of several workers, each as soon as it is there."""

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from evomix.modalities.text.pacing import Stopped

Answer = TypeVar("Answer")


def as_answered(
    answer: Callable[[int], Answer], count: int, *, workers: int, stop: Callable[[], None]
) -> Iterator[tuple[int, Answer]]:
    """Yield (position, ``answer(position)``) for 0 … count − 1, in the order in which they arrive.

    A new question is put only after the caller has taken (and kept) an answer, so that a killed run loses no more
    than ``workers`` of them. When a question fails, no further one is put; what runs is waited for and yielded,
    because it is paid for, and then the first failure is raised. ``stop`` is called on a failure and at the end: it
    makes a question that only waits raise `Stopped`.
    """
    ahead: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    arrived: queue.SimpleQueue[tuple[int, Future[Answer]]] = queue.SimpleQueue()
    started = running = min(workers, count)
    following = iter(range(count))
    for _ in range(started):
        ahead.put(next(following))
        # Daemons: Ctrl-C must not wait for a server that hangs.
        threading.Thread(target=_work, args=(answer, ahead, arrived), daemon=True).start()
    failure: BaseException | None = None
    try:
        while running:
            position, outcome = arrived.get()
            running -= 1
            error = outcome.exception()
            if error is None:
                yield position, outcome.result()
            elif failure is None and not isinstance(error, Stopped):
                failure = error
                stop()
            upcoming = next(following, None) if failure is None else None
            if upcoming is not None:
                ahead.put(upcoming)
                running += 1
    finally:
        stop()
        for _ in range(started):
            ahead.put(None)
    if failure is not None:
        raise failure


def _work(
    answer: Callable[[int], Answer],
    ahead: "queue.SimpleQueue[int | None]",
    arrived: "queue.SimpleQueue[tuple[int, Future[Answer]]]",
) -> None:
    while (position := ahead.get()) is not None:
        outcome: Future[Answer] = Future()
        try:
            outcome.set_result(answer(position))
        except BaseException as error:  # noqa: BLE001  (raised again where the answers are taken)
            outcome.set_exception(error)
        arrived.put((position, outcome))
