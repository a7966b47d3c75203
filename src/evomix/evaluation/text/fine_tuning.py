"""A transformer of the user's own, fine-tuned on each set of texts: closer to real use than a probe, and slower."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.evaluation.text.text_set import TextSet

_MOST_TOKENS: Final = 256
_LEARNING_RATE: Final = 5e-5
_WARM_UP: Final = 0.1
_DECAY: Final = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class FineTunedLearner:
    """A pretrained encoder with a fresh head, all weights trained with AdamW; nothing is fetched.

    Every prediction begins with the weights of the folder. A GPU is used where torch finds one.

    Attributes:
        folder: a model and its tokenizer, as ``save_pretrained`` writes them.
        epochs: times that each text is seen.
        batch: texts a step.
    """

    folder: str
    epochs: int = 3
    batch: int = 16

    def __post_init__(self) -> None:
        if not Path(self.folder).is_dir():
            raise SpecError(f"expected a folder with a model to fine-tune, found classifier={self.folder!r}")
        _transformers()

    @property
    def title(self) -> str:
        """What it is."""
        return f"The model {Path(self.folder).resolve().name!r}, fine-tuned for {self.epochs} epochs"

    def predict_classes(
        self, train: TextSet, labels: IntArray, test: TextSet, *, classes: int, seed: int
    ) -> FloatArray:
        """Fine-tune on cross-entropy; a class that is not in training gets 0."""
        torch = _transformers()[0]
        known, own = np.unique(labels, return_inverse=True)
        answer = np.zeros((len(test), classes))
        if len(known) == 1:
            answer[:, known[0]] = 1.0
            return answer
        scores = self._scores(train, torch.as_tensor(own), test, outputs=len(known), loss=_cross_entropy, seed=seed)
        answer[:, known] = torch.softmax(scores, dim=1).numpy()
        return answer

    def predict_numbers(self, train: TextSet, targets: FloatArray, test: TextSet, *, seed: int) -> FloatArray:
        """Fine-tune on squared errors of the standardised target."""
        torch = _transformers()[0]
        centre, spread = float(targets.mean()), float(targets.std())
        if spread == 0.0:
            return np.full(len(test), centre)
        wanted = torch.as_tensor((targets - centre) / spread, dtype=torch.float32)
        scores = self._scores(train, wanted, test, outputs=1, loss=_squared_error, seed=seed)
        return np.asarray(scores[:, 0].numpy() * spread + centre, np.float64)

    def _scores(
        self, train: TextSet, wanted: Any, test: TextSet, *, outputs: int, loss: Callable[[Any, Any], Any], seed: int
    ) -> Any:
        """Return the outputs for the test texts, a float64 tensor (len(test), outputs)."""
        torch, _ = _transformers()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            tokenizer, model = self._load(outputs)
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model.to(device).train()
            steps = self.epochs * -(-len(train) // self.batch)
            optimiser = torch.optim.AdamW(model.parameters(), lr=_LEARNING_RATE, weight_decay=_DECAY)
            pace = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _pace(step, steps))
            rng = np.random.default_rng(seed)
            for _ in range(self.epochs):
                for rows in _batches(rng.permutation(len(train)), self.batch):
                    tokens = _tokens(tokenizer, train, rows, device)
                    optimiser.zero_grad()
                    loss(model(**tokens).logits, wanted[rows].to(device)).backward()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimiser.step()
                    pace.step()
            model.eval()
            with torch.inference_mode():
                parts = [
                    model(**_tokens(tokenizer, test, rows, device)).logits.double().cpu()
                    for rows in _batches(np.arange(len(test)), self.batch)
                ]
        return torch.cat(parts)

    def _load(self, outputs: int) -> tuple[Any, Any]:
        _, transformers = _transformers()
        try:
            with _quiet(transformers.utils.logging):
                tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
                model = transformers.AutoModelForSequenceClassification.from_pretrained(
                    self.folder, local_files_only=True, num_labels=outputs, ignore_mismatched_sizes=True
                )
        except (OSError, ValueError, KeyError) as error:
            raise SpecError(
                f"expected a folder with a model and its tokenizer, found classifier={self.folder!r}: "
                f"{(str(error) or type(error).__name__).splitlines()[0]}"
            ) from None
        return tokenizer, model


def _transformers() -> tuple[Any, Any]:
    """Return the modules torch and transformers, told to fetch nothing."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import torch  # noqa: PLC0415  (optional, and seconds to load)
        import transformers  # noqa: PLC0415
    except ImportError as error:
        raise EnvironmentFailure(
            f"expected torch and transformers to fine-tune a model, found {error}; pip install torch transformers, or "
            "leave the classifier out: linear models on vectors need neither"
        ) from None
    return torch, transformers


@contextmanager
def _quiet(log: Any) -> Iterator[None]:
    """Keep a library from saying at each loading that the head is new, which it is meant to be."""
    level, shown = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if shown:
            log.enable_progress_bar()


def _cross_entropy(scores: Any, wanted: Any) -> Any:
    torch, _ = _transformers()
    return torch.nn.functional.cross_entropy(scores, wanted)


def _squared_error(scores: Any, wanted: Any) -> Any:
    torch, _ = _transformers()
    return torch.nn.functional.mse_loss(scores[:, 0], wanted)


def _batches(order: IntArray, size: int) -> Iterator[IntArray]:
    return (order[start : start + size] for start in range(0, len(order), size))


def _pace(step: int, steps: int) -> float:
    """Return the share of the learning rate: up over the first tenth of the steps, then down to 0."""
    warm = max(1, round(_WARM_UP * steps))
    return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))


def _tokens(tokenizer: Any, found: TextSet, rows: IntArray, device: Any) -> Any:
    texts = [found.texts[row] for row in rows.tolist()]
    longest = min(_MOST_TOKENS, int(tokenizer.model_max_length))
    return tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=longest).to(device)
