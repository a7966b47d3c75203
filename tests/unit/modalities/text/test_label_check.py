"""Texts that read like another class are found, by public texts alone."""

import numpy as np
import pytest

from evomix.modalities.text.label_check import LEAST_TEXTS, LabelCheck


def _points(rng, classes):
    vectors = rng.normal(0, 0.3, (len(classes), 5)) + np.eye(5)[classes]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_right_labels_pass_and_wrong_ones_do_not():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 300)
    check = LabelCheck.fit(_points(rng, classes), classes, 4)
    fresh = np.repeat([0, 1, 2], 500)
    vectors = _points(rng, fresh)
    for one in range(3):  # as clearly as three in four public texts of the class
        assert 0.65 < check.passes(vectors, fresh)[fresh == one].mean() < 0.85
    assert check.passes(vectors, (fresh + 1) % 3).mean() < 0.02
    assert check.passes(vectors, np.full(1500, 3)).all()  # a class that public texts do not show is not judged


def test_a_text_between_two_classes_passes_where_public_texts_are_no_clearer():
    rng = np.random.default_rng(1)
    between = np.array([[1.0, 1.0, 0, 0, 0]], np.float32) / np.float32(2**0.5)
    classes = np.repeat([0, 1], 1500)
    clear = LabelCheck.fit(_points(rng, classes), classes, 2)
    assert not clear.passes(between, [0])[0]
    assert not clear.passes(between, [1])[0]
    assert clear.passes(between[:0], []).shape == (0,)
    blurred = _points(rng, np.where(rng.random(3000) < 0.4, 1 - classes, classes))  # two in five labels are wrong
    unclear = LabelCheck.fit(blurred, classes, 2)
    assert unclear.passes(between, [0])[0]
    assert unclear.passes(between, [1])[0]


def test_the_order_of_public_texts_says_nothing():
    """One source after the other, as tables of several files are: the check is that of mixed ones."""
    rng = np.random.default_rng(4)
    classes = np.tile([0, 1], 150)
    points = _points(rng, classes)
    points[:150, 2] += 2.0  # the first source lies elsewhere
    fresh, order = _points(rng, classes), rng.permutation(300)
    one = LabelCheck.fit(points, classes, 2).passes(fresh, classes)
    other = LabelCheck.fit(points[order], classes[order], 2).passes(fresh, classes)
    assert (one == other).mean() > 0.95


@pytest.mark.parametrize("classes", [np.zeros(50, int), np.repeat([0, 1], [50, LEAST_TEXTS - 1]), np.zeros(0, int)])
def test_too_few_public_texts_tell_nothing(classes):
    assert LabelCheck.fit(_points(np.random.default_rng(2), classes), classes, 2) is None
