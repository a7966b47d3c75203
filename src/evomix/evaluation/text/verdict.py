"""Whether synthetic texts tell more of the real ones than public texts alone."""

from collections.abc import Sequence

from evomix.evaluation.downstream import Downstream
from evomix.evaluation.text.lengths import Lengths
from evomix.evaluation.text.vocabulary import Vocabulary
from evomix.evaluation.verdict import count_figures, loss_pairs, point_pairs
from evomix.metrics.comparison import Comparison


def text_verdict(
    models: Downstream | None, points: Comparison | None, lengths: Sequence[Lengths], words: Vocabulary | None
) -> str:
    """Return one sentence that counts the figures on which each of the two sets is closer to the real texts.

    A figure is as close as it falls short of that of other real texts. No figure weighs more than another: the sentence
    says where to look.
    """
    return count_figures(
        [
            *(() if models is None else loss_pairs(models)),
            *point_pairs(points),
            *_lengths(lengths),
            *(() if words is None else _words(words)),
        ]
    )


def _lengths(lengths: Sequence[Lengths]) -> list[tuple[float, float]]:
    pairs = []
    for found in lengths:
        made, best, public = (
            0.0 if name not in found.sets else found.sets[name].distance or 0.0
            for name in ("synthetic", "ceiling", "floor")
        )
        if "floor" in found.sets:
            pairs.append((max(made - best, 0.0), max(public - best, 0.0)))
    return pairs


def _words(words: Vocabulary) -> list[tuple[float, float]]:
    pairs = []
    for figure in words.figures:
        if figure.synthetic is None or figure.ceiling is None or figure.floor is None:
            continue
        gaps = [figure.ceiling - value for value in (figure.synthetic, figure.floor)]
        short = [max(gap, 0.0) if figure.better == "higher" else abs(gap) for gap in gaps]
        pairs.append((short[0], short[1]))
    return pairs
