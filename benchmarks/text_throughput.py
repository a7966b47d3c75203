"""What text runs cost beside the bare runtimes, in turns in one process: ``python benchmarks/text_throughput.py``.

Needs ``evomix[text]`` and the packaged models. Each side does the same work: the same prompts with the same settings to
the same converted model; the same sentences to the same converted encoder (the bare side in batches of like length,
padded, as sentence encoders are usually run, which does not give every text its own vector bit by bit); the same
vectors to the same candidates (the bare side by the largest float32 product, which is not exact). Figures are CPU
seconds, the least of the turns.
"""

# ruff: noqa: SLF001  (the bare runtimes are those that the models hold)

import argparse
import sys

import numpy as np

from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.language_model import Request
from evomix.modalities.text.local_model import LocalModel
from evomix.modalities.text.minilm import MiniLM
from evomix.modalities.text.records import population
from evomix.neighbors.vectors import VectorIndex
from measuring import markdown, publish, timed

WORDS = [
    "the",
    "a",
    "this",
    "my",
    "food",
    "place",
    "film",
    "phone",
    "was",
    "is",
    "has",
    "very",
    "so",
    "too",
    "good",
    "bad",
    "slow",
    "kind",
    "cold",
    "warm",
    "new",
    "old",
    "we",
    "they",
    "it",
    "and",
]
TURNS = 3


def sentences(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, int(rng.integers(5, 40)))) + "." for _ in range(count)]


def generation(count: int) -> list[object]:
    model = LocalModel(threads=1)
    texts = sentences(5 * count)
    listed = ["A list of reviews:\n- " + "\n- ".join(texts[5 * k : 5 * k + 5]) + "\n-" for k in range(count)]
    requests = [Request("", prompt, 48, temperature=0.8, seed=k, form="continue") for k, prompt in enumerate(listed)]
    requests.sort(key=lambda request: len(request.user))
    tokens = [[str(token) for token in model._prompts.of(request)] for request in requests]
    ends = list(model._prompts.ends("continue"))

    runtime = model._fresh_runtime()

    def bare() -> int:
        made = 0
        for start in range(0, count, 32):
            results = runtime.generate_batch(
                tokens[start : start + 32], max_length=48, include_prompt_in_result=False, end_token=ends,
                return_end_token=True, sampling_topk=50, sampling_topp=0.95, sampling_temperature=0.8,
            )  # fmt: skip
            made += sum(len(result.sequences_ids[0]) for result in results)
        return made

    def ours() -> int:
        return sum(answer.tokens for _, answer in model.complete(requests))

    return compared("answers of the packaged model, new tokens", ours, bare)


def encoding(count: int, candidates: int) -> list[object]:
    encoder = MiniLM(threads=1)
    texts, there = sentences(count), Drawn().encode([""] * candidates)
    index = VectorIndex(there)

    def bare() -> int:
        pieces = [encoding.ids for encoding in encoder._tokenizer.encode_batch(texts)]
        order = sorted(range(count), key=lambda k: len(pieces[k]))
        vectors = np.empty((count, 384), np.float32)
        for start in range(0, count, 32):
            part = order[start : start + 32]
            output = encoder._encoder.forward_batch([pieces[k] for k in part])
            states = np.asarray(output.last_hidden_state)
            for row, k in enumerate(part):
                vectors[k] = states[row, : len(pieces[k])].mean(axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return len(np.argmax(vectors @ there.T, axis=1))

    what = f"sentences encoded, and votes for {candidates:,} candidates"
    return compared(what, lambda: len(index.nearest(encoder.encode(texts))), bare)


class Drawn:
    """Unit vectors at random: voting alone is measured."""

    name, local = "drawn", True

    def encode(self, texts: list[str]) -> np.ndarray:
        vectors = np.random.default_rng(len(texts)).normal(size=(len(texts), 384)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def voting(records: int, candidates: int) -> list[object]:
    embedder = TextEmbedder(Drawn(), classes=1)
    index = embedder.index(population((0, str(k)) for k in range(candidates)))
    there = embedder.vectors(population((0, str(k)) for k in range(candidates)))
    points = Drawn().encode([""] * records)

    def bare() -> int:
        for start in range(0, records, 1024):
            np.argmax(points[start : start + 1024] @ there.T, axis=1)
        return records

    return compared(f"votes alone for {candidates:,} candidates", lambda: len(index.nearest(points)), bare)


def compared(what: str, ours, bare) -> list[object]:
    ours(), bare()
    rates: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(TURNS):
        for name, work in (("ours", ours), ("bare", bare)):
            made, seconds = timed(work, repeats=1)
            rates[name].append(made / seconds)
    mine, theirs = max(rates["ours"]), max(rates["bare"])
    print(f"{what}: {mine:.0f} against {theirs:.0f}", file=sys.stderr)
    return [what, f"{mine:,.0f}", f"{theirs:,.0f}", f"{theirs / mine:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=128)
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=20_000)
    given = parser.parse_args()
    rows = [
        generation(given.answers),
        encoding(given.sentences, 1000),
        voting(given.records, 1000),
        voting(given.records, 8000),
    ]
    title = f"{given.answers} prompts, {given.sentences:,} sentences, {given.records:,} voters; one thread"
    table = markdown(["work", "evomix, a CPU second", "bare runtime", "bare / evomix"], rows)
    publish("text_throughput", title, table, command=" ".join(["python benchmarks/text_throughput.py", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
