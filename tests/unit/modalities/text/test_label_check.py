"""Texts that read like another class are found, by public texts alone."""

import numpy as np
import pytest

from evomix.modalities.text.label_check import LEAST_TEXTS, LabelCheck


def _points(rng, classes):
    vectors = rng.normal(0, 0.3, (len(classes), 5)) + np.eye(5)[classes]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_right_labels_pass_and_wrong_ones_do_not():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 60)
    check = LabelCheck.fit(_points(rng, classes), classes, 4)
    fresh = np.repeat([0, 1, 2], 100)
    vectors = _points(rng, fresh)
    assert check.passes(vectors, fresh).mean() > 0.9
    assert check.passes(vectors, (fresh + 1) % 3).mean() < 0.1
    assert check.passes(vectors, np.full(300, 3)).all()  # a class that public texts do not show is not judged


def test_a_text_between_two_classes_passes_as_either():
    classes = np.repeat([0, 1], 50)
    check = LabelCheck.fit(_points(np.random.default_rng(1), classes), classes, 2)
    between = np.array([[1.0, 1.0, 0, 0, 0]], np.float32) / np.float32(2**0.5)
    assert check.passes(between, [0])[0]
    assert check.passes(between, [1])[0]
    assert check.passes(between[:0], []).shape == (0,)


@pytest.mark.parametrize("classes", [np.zeros(50, int), np.repeat([0, 1], [50, LEAST_TEXTS - 1]), np.zeros(0, int)])
def test_too_few_public_texts_tell_nothing(classes):
    assert LabelCheck.fit(_points(np.random.default_rng(2), classes), classes, 2) is None
