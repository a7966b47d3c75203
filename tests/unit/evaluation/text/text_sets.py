"""Small made-up reviews with vectors that know their sentiment."""

import numpy as np

from evomix.evaluation.text.text_set import TextSet

GOOD = ("great", "lovely", "superb", "charming", "excellent")
BAD = ("awful", "broken", "dreadful", "stale", "terrible")
THINGS = ("phone", "film", "soup", "waiter", "battery", "plot", "table", "charger")


def reviews(n, seed, *, things=THINGS, noise=0.3, classes=(0, 1)):
    """Return n reviews; the first coordinate tells the sentiment, up to noise."""
    rng = np.random.default_rng(seed)
    signs = rng.choice(classes, n)
    texts = [
        f"The {rng.choice(things)} number {rng.integers(10**6)} was {rng.choice(GOOD if sign else BAD)} and the "
        f"{rng.choice(things)} {'worked' if sign else 'failed'}"
        for sign in signs
    ]
    vectors = rng.normal(scale=noise, size=(n, 4))
    vectors[:, 0] += np.where(signs == 1, 0.5, -0.5)
    return TextSet(texts, vectors, np.array(["bad", "good"], object)[signs])


def flipped(found):
    """Return the same texts with the other class."""
    return TextSet(found.texts, found.vectors, np.where(found.targets == "good", "bad", "good").astype(object))


def stars(found, seed=0):
    """Return the same texts with a number to predict: the first coordinate and some noise."""
    rng = np.random.default_rng(seed)
    return TextSet(found.texts, found.vectors, 3.0 + 2.0 * found.vectors[:, 0] + rng.normal(scale=0.1, size=len(found)))
