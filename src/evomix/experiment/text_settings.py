"""The settings that only texts have: which model, what it is asked, where texts lie, what may be paid."""

import math
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from evomix.core.arguments import number, shown, whole
from evomix.core.errors import SpecError

GENERATORS: Final = ("auto", "local", "endpoint", "transformers", "vllm", "recombine")
APIS: Final = ("chat", "completion")
WORDS: Final = ("text_column", "model", "base_url", "embedder", "prompts", "domain")
AMOUNTS: Final = ("timeout_s", "price_in", "price_out", "most_cost")
COUNTS: Final = {"concurrency": 256, "most_tokens": 10**15}
CHOICES: Final = {"generator": GENERATORS, "api": APIS}
TEXT_SETTINGS: Final = (*WORDS, *CHOICES, *AMOUNTS, *COUNTS)
"""Names of the fields of a ``RunSpec`` that have no effect on tables."""
_OF_ENDPOINTS: Final = (
    "base_url",
    "concurrency",
    "timeout_s",
    "price_in",
    "price_out",
    "most_cost",
    "most_tokens",
)


def check_text_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of texts as plain values, ``None`` where they are not given.

    Raises:
        SpecError: one is of another kind, out of range, or has no effect with the others.
    """
    found: dict[str, Any] = {}
    for name in TEXT_SETTINGS:
        value = given[name]
        found[name] = None if value is None else _checked(name, value)
    _check_address(found["base_url"])
    generator = found["generator"] or "auto"
    idle = [name for name in _OF_ENDPOINTS if found[name] is not None]
    if idle and generator not in ("auto", "endpoint"):
        raise SpecError(f"{idle[0]}={shown(found[idle[0]])} has no effect with generator={generator!r}; leave it out")
    if idle and generator == "auto" and found["base_url"] is None:
        raise SpecError(
            f"{idle[0]}={shown(found[idle[0]])} is about a model behind an address: give it (--base-url), or "
            "--generator endpoint for the client's own default"
        )
    if generator == "endpoint" and found["model"] is None:
        raise SpecError("generator='endpoint' needs the name of the model (--model)")
    if generator in ("transformers", "vllm") and found["model"] is None:
        raise SpecError(f"generator={generator!r} needs the folder of a model (--model PATH)")
    if generator == "recombine" and (
        idle := [one for one in ("model", "prompts", "domain", "api") if found[one] is not None]
    ):
        raise SpecError(f"{idle[0]}={found[idle[0]]!r} has no effect with generator='recombine', which asks no model")
    if found["most_cost"] is not None and found["price_in"] is None and found["price_out"] is None:
        raise SpecError("most_cost needs prices to reckon with: give --price-in and --price-out, per million tokens")
    return found


def given_text_settings(spec: Any) -> list[str]:
    """Return the names of the settings of texts that a spec gives."""
    return [name for name in TEXT_SETTINGS if getattr(spec, name) is not None]


def _checked(name: str, value: Any) -> Any:
    if name in COUNTS:
        return whole(name, value, least=1, most=COUNTS[name])
    if name in AMOUNTS:
        amount = number(name, value)
        if not 0.0 <= amount < math.inf or (amount == 0.0 and name == "timeout_s"):
            least = "above" if name == "timeout_s" else "of at least"
            raise SpecError(f"{name} must be a finite number {least} 0; found {name}={value!r}")
        return amount
    if not isinstance(value, str) or not value.strip():
        raise SpecError(f"{name} must be text; found {name}={shown(value)}")
    if name in CHOICES and value not in CHOICES[name]:
        raise SpecError(f"{name} must be one of {', '.join(CHOICES[name])}; found {name}={value!r}")
    return value


def _check_address(base_url: str | None) -> None:
    """Refuse an address that is none, or holds a password, which would stand in the record of the run."""
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname
    except ValueError:
        wrong = True
    if wrong:
        raise SpecError("base_url must be an address such as http://localhost:8000/v1; what was given is not quoted")
    if parts.username or parts.password or parts.query:
        raise SpecError("base_url must not hold a user, a password or a query; give the key as OPENAI_API_KEY")
