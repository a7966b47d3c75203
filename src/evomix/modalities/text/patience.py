"""When so much has failed that a run ends, and when one request alone is given up."""

import threading
from collections import Counter

from evomix.core.errors import GeneratorError
from evomix.modalities.text.retrying import Fault, Server

_FREE_FAILURES = 3
_SHARE = 10


class Patience:
    """Judges requests that were given up after all their attempts. Safe to share between threads.

    One poor request must not end a long run, and a server that is down must not be asked thousands of times. The run
    ends when a request is given up before anything was answered, when two in a row found the server unavailable, or
    when more than 3 and a tenth of what was answered were given up.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._answered = 0
        self._unavailable_in_a_row = 0
        self._given_up: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answered(self) -> None:
        """Note an answer."""
        with self._lock:
            self._answered += 1
            self._unavailable_in_a_row = 0

    def given_up(self, fault: Fault, attempts: int) -> None:
        """Note a request that was given up after its last fault.

        Raises:
            GeneratorError: it is too much; names the kinds and how often each occurred.
        """
        with self._lock:
            self._given_up[fault.trouble] += 1
            self._unavailable_in_a_row += fault.trouble != "unusable answer"
            if (
                self._answered == 0
                or self._unavailable_in_a_row > 1
                or self._given_up.total() > _FREE_FAILURES + self._answered // _SHARE
            ):
                raise GeneratorError(self._too_much(fault, attempts))

    def _too_much(self, fault: Fault, attempts: int) -> str:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in self._given_up.most_common())
        return (
            f"requests to {self._server.address} fail: {self._given_up.total()} given up after {attempts} attempts "
            f"each ({kinds}), {self._answered} answered; the last fault: {fault.reason}. "
            "What was answered is kept: check the server, or lower concurrency, and resume the run"
        )
