"""What a run's requests cost, and the caps that stop it before they are exceeded."""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from evomix.core.errors import GeneratorError, SpecError
from evomix.modalities.text.language_model import Request

_PER = 1_000_000
_TEMPLATE_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent so far.

    Attributes:
        requests: sent, with every attempt counted.
        retries: attempts that failed and were made again, by kind.
        failures: requests given up after all their attempts, by kind.
        prompt_tokens: read by the model.
        tokens: made by the model.
        cost: in the currency of the prices.
        estimated: attempts whose tokens the server did not tell, so that they were estimated.
    """

    requests: int = 0
    retries: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: int = 0
    tokens: int = 0
    cost: float = 0.0
    estimated: int = 0


@dataclass(frozen=True, slots=True)
class Caps:
    """Prices in currency units per million tokens, and what may be spent; None is no cap.

    Raises:
        SpecError: a number is negative or no number, or a cap on cost has no price to go with it.
    """

    price_in: float = 0.0
    price_out: float = 0.0
    most_cost: float | None = None
    most_tokens_total: int | None = None

    def __post_init__(self) -> None:
        for name in ("price_in", "price_out", "most_cost", "most_tokens_total"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise SpecError(f"{name} must be a number that is 0 or more, found {name}={value}")
        if self.most_cost is not None and self.price_in == 0 and self.price_out == 0:
            raise SpecError(
                f"most_cost={self.most_cost} needs prices: give price_in and price_out per million tokens "
                "(or cap tokens with most_tokens_total)"
            )

    def cost(self, prompt_tokens: int, tokens: int) -> float:
        """Return the price of so many tokens."""
        return (prompt_tokens * self.price_in + tokens * self.price_out) / _PER

    def exceeded_by(self, spent: Spent) -> str:
        """Return the cap that ``spent`` would exceed, as ``name=value``; empty if none."""
        if self.most_cost is not None and spent.cost > self.most_cost * (1 + 1e-12):
            return f"most_cost={self.most_cost:g}"
        if self.most_tokens_total is not None and spent.prompt_tokens + spent.tokens > self.most_tokens_total:
            return f"most_tokens_total={self.most_tokens_total}"
        return ""


def worst_case(request: Request) -> tuple[int, int]:
    """Return the tokens (prompt, answer) that a request costs at most.

    A token of the byte-level vocabularies in use holds a byte at least, so a prompt has no more tokens than bytes;
    64 are allowed for what a chat template adds.
    """
    bytes_sent = len(request.system.encode("utf-8", "ignore")) + len(request.user.encode("utf-8", "ignore"))
    return bytes_sent + _TEMPLATE_TOKENS, request.most_tokens


def estimated_tokens(text: str) -> int:
    """Return an estimate of a text's tokens where the server tells none: one for every three bytes, rounded up."""
    return math.ceil(len(text.encode("utf-8", "ignore")) / 3)


@dataclass(slots=True)
class Bill:
    """What one attempt turned out to take; nothing until it is sent."""

    requests: int = 0
    prompt_tokens: int = 0
    tokens: int = 0
    estimated: bool = False

    def take(self, prompt_tokens: int, tokens: int, *, else_prompt: int, else_tokens: int) -> None:
        """Note the tokens a server told, and an estimate in place of each number that it did not tell (0)."""
        self.prompt_tokens = prompt_tokens or else_prompt
        self.tokens = tokens or else_tokens
        self.estimated = (prompt_tokens == 0 and else_prompt > 0) or (tokens == 0 and else_tokens > 0)


class Account:
    """Counts what is spent, and lets no request start that could exceed a cap. Safe to share between threads."""

    def __init__(self, caps: Caps, already: Spent) -> None:
        self.caps = caps
        self._spent = already
        self._reserved: Counter[tuple[int, int]] = Counter()
        self._retries = Counter(already.retries)
        self._failures = Counter(already.failures)
        self._changed = threading.Condition()

    @property
    def spent(self) -> Spent:
        """What was spent until now; requests on their way are not in it."""
        with self._changed:
            return replace(self._spent, retries=dict(self._retries), failures=dict(self._failures))

    @contextmanager
    def reserved(self, request: Request) -> Iterator[Bill]:
        """Set aside what a request costs at most, for the time of the block; what the bill then says is counted.

        Waits for requests on their way where those might leave enough.

        Raises:
            GeneratorError: the request could exceed a cap.
        """
        worst = worst_case(request)
        bill = Bill()
        self._set_aside(worst)
        try:
            yield bill
        finally:
            self._settle(worst, bill)

    def retried(self, trouble: str) -> None:
        """Count an attempt that is made again."""
        with self._changed:
            self._retries[trouble] += 1

    def failed(self, trouble: str) -> None:
        """Count a request that was given up."""
        with self._changed:
            self._failures[trouble] += 1

    def _set_aside(self, worst: tuple[int, int]) -> None:
        with self._changed:
            while cap := self.caps.exceeded_by(self._with(worst, reserved=True)):
                if not self._reserved.total():
                    raise GeneratorError(_too_much(cap, self._spent, sum(worst)))
                self._changed.wait()
            self._reserved[worst] += 1

    def _settle(self, worst: tuple[int, int], bill: Bill) -> None:
        with self._changed:
            self._reserved[worst] -= 1
            after = self._with((bill.prompt_tokens, bill.tokens))
            self._spent = replace(
                after, requests=after.requests + bill.requests, estimated=after.estimated + bill.estimated
            )
            self._changed.notify_all()

    def _with(self, more: tuple[int, int], *, reserved: bool = False) -> Spent:
        """Return what is spent with so many tokens (prompt, answer) more, and with all set aside if ``reserved``."""
        ahead = self._reserved.items() if reserved else ()
        prompt_tokens = more[0] + sum(prompt * times for (prompt, _), times in ahead)
        tokens = more[1] + sum(answer * times for (_, answer), times in ahead)
        spent = self._spent
        return replace(
            spent,
            prompt_tokens=spent.prompt_tokens + prompt_tokens,
            tokens=spent.tokens + tokens,
            cost=spent.cost + self.caps.cost(prompt_tokens, tokens),
        )


def _too_much(cap: str, spent: Spent, tokens: int) -> str:
    return (
        f"the next request could exceed the cap {cap}: spent so far are {spent.cost:.6g} currency units and "
        f"{spent.prompt_tokens + spent.tokens} tokens in {spent.requests} requests, and it may take {tokens} tokens; "
        "what was answered is kept: raise the cap and resume the run, or ask for less"
    )
