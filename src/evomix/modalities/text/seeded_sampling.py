"""Sampling in which each row of a batch has a temperature, a nucleus and a seed of its own.

Adding independent Gumbel noise to the logarithms of probabilities and taking the largest is a draw from them (Gumbel
1954; Maddison, Tarlow, Minka 2014). With noise from a generator of its own, what a row draws does not depend on which
rows share its batch.
"""

from collections.abc import Sequence
from typing import Any

from evomix.modalities.text.language_model import Request

_LIKELIEST = 1024
"""Tokens that are sorted first: their share nearly always reaches top_p, and sorting all is slow."""


class SeededSampling:
    """A ``logits processor`` for ``generate(do_sample=False)``: the largest score it returns is a sample.

    Args:
        requests: one for each row of the batch.
        device: of the scores; the same seed draws differently on another kind of device.
    """

    def __init__(self, requests: Sequence[Request], *, device: Any) -> None:
        import torch  # noqa: PLC0415  (optional)

        self._torch = torch
        self._generators = [torch.Generator(device).manual_seed(request.seed) for request in requests]
        temperatures = torch.tensor([[request.temperature] for request in requests], device=device)
        self._greedy = temperatures <= 0
        self._temperatures = torch.where(self._greedy, 1.0, temperatures)
        self._top_ps = torch.tensor([[request.top_p] for request in requests], device=device)

    def __call__(self, _tokens: Any, scores: Any) -> Any:
        """Return scores (rows, vocabulary) whose largest in each row is the token drawn."""
        torch = self._torch
        logits = scores.float() / self._temperatures
        logits = logits.masked_fill(logits < self._least_kept(logits), -torch.inf)
        noise = torch.empty_like(logits)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        # −log of an exponential variable is a Gumbel variable; 0 would make the forbidden possible.
        drawn = logits - noise.clamp_min_(torch.finfo(noise.dtype).tiny).log_()
        return torch.where(self._greedy, scores.float(), drawn)

    def _least_kept(self, logits: Any) -> Any:
        """Return for each row the logit of the last token that its nucleus needs (rows, 1)."""
        torch = self._torch
        total = logits.logsumexp(-1, keepdim=True)
        likeliest = logits.topk(min(_LIKELIEST, logits.shape[-1]), -1).values
        reached = (likeliest - total).exp().cumsum(-1)
        whole = self._top_ps >= 1
        if not bool(((reached[:, -1:] >= self._top_ps) | whole).all()):
            likeliest = logits.sort(-1, descending=True).values
            reached = (likeliest - total).exp().cumsum(-1)
        needed = (reached < self._top_ps).sum(-1, keepdim=True).clamp_max(likeliest.shape[-1] - 1)
        return torch.where(whole, -torch.inf, likeliest.gather(-1, needed))
