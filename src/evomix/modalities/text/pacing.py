"""How many requests run at once, and when the next may start: one clock for all workers of an endpoint."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopped(Exception):  # noqa: N818  (an order, not a fault)
    """The run ends; no further request is sent."""


class Pace:
    """Lets requests through one by one.

    A wait that one worker was told holds all of them. After a rate limit half as many run at once as before; each
    answer lets in a little more again (additive increase, multiplicative decrease).
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._width = float(most)
        self._running = 0
        self._open_at = 0.0
        self._narrowed_at = 0.0
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, stopped: threading.Event) -> Iterator[float]:
        """Wait for a turn and hold it; yields when it began, in seconds of `time.monotonic`.

        Raises:
            Stopped: ``stopped`` was set before the turn came.
        """
        began = self._take(stopped)
        try:
            yield began
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def hold(self, seconds: float) -> None:
        """Let nobody start for so many seconds from now; a longer wait that already holds stays."""
        with self._changed:
            self._open_at = max(self._open_at, time.monotonic() + seconds)

    def narrow(self, began: float) -> None:
        """Run half as many at once; once only for the requests of one burst, told by when they began."""
        with self._changed:
            if began >= self._narrowed_at:
                self._width = max(1.0, self._width / 2)
                self._narrowed_at = time.monotonic()

    def widen(self) -> None:
        """Note an answer."""
        with self._changed:
            self._width = min(self._most, self._width + 1 / self._width)
            self._changed.notify_all()

    def wake(self) -> None:
        """Let whoever waits see that it was stopped."""
        with self._changed:
            self._changed.notify_all()

    def _take(self, stopped: threading.Event) -> float:
        with self._changed:
            while True:
                if stopped.is_set():
                    raise Stopped
                now = time.monotonic()
                rest = self._open_at - now
                if rest <= 0 and self._running < int(self._width):
                    self._running += 1
                    return now
                self._changed.wait(rest if rest > 0 else None)
