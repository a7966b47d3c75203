"""The frame of a plot as self-contained SVG: title, legend, axes and the note below.

Text stays text, there are no scripts and no outside files, and the colours follow the reader's light or dark
setting. Post-processing of public values; costs nothing.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from evomix.reports.plot_scale import PlotScale

WIDTH: Final = 720.0
HEIGHT: Final = 340.0  # of the area between the axes
LEFT: Final = 78.0
RIGHT: Final = 34.0
_LINE: Final = 17.0
_CHARACTER: Final = 6.7  # a generous width of one 12-pixel character

# Told apart by people with any colour vision, and readable on white and on near-black.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#b0508f", "#8a7500", "#5a6b7b", "#b3202c", "#20252b")
_DARK: Final = ("#56b4e9", "#ff8a3d", "#2fd0a0", "#e58cc4", "#e0c93f", "#a9b8c6", "#ff7b7b", "#f0f2f4")
DASHES: Final = ("none", "8 4", "2 3", "10 3 2 3", "14 4", "5 2", "1 4", "16 3 2 3 2 3")
_UNPRINTABLE: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Legend:
    """An entry of the legend: its words, which colour (0, 1, …), and whether it stands for a line or an area."""

    name: str
    colour: int
    line: bool = True


@dataclass(frozen=True, slots=True)
class PlotWords:
    """What stands around the plot: all of it plain text."""

    title: str
    x_label: str
    y_label: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The area between the axes; y grows downwards in SVG.

    Attributes:
        x: the horizontal axis.
        y: the vertical axis.
        top: distance of the area from the upper edge, pixels.
    """

    x: PlotScale
    y: PlotScale
    top: float

    def across(self, value: float) -> float:
        """Return the horizontal pixel of ``value``."""
        return round(LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT), 2)

    def down(self, value: float) -> float:
        """Return the vertical pixel of ``value``."""
        return round(self.top + (1.0 - self.y.place(value)) * HEIGHT, 2)


def plot_area(x: PlotScale, y: PlotScale, *, words: PlotWords, legend: Sequence[Legend]) -> PlotArea:
    """Return the area that title and legend leave."""
    return PlotArea(x, y, top=26.0 + _LINE * (len(_title_lines(words.title)) + len(_legend_rows(legend))))


def render_plot(
    area: PlotArea,
    shapes: Sequence[str],
    *,
    words: PlotWords,
    legend: Sequence[Legend],
    x_ticks: Sequence[tuple[float, str]] | None = None,
) -> str:
    """Return the whole SVG document.

    Args:
        area: from `plot_area`.
        shapes: SVG elements inside the area.
        words: title, labels and note.
        legend: entries, drawn in rows above the area.
        x_ticks: (value, words) pairs below the area; those of the axis by default.
    """
    note = textwrap.wrap(_clean(words.note), width=int((WIDTH - LEFT - RIGHT) / (_CHARACTER - 1.0)))
    bottom = area.top + HEIGHT
    height = bottom + 48.0 + _LINE * len(note) + (6.0 if note else 0.0)
    title = _clean(words.title)
    size = f'width="{WIDTH:g}" height="{height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="evx" viewBox="0 0 {WIDTH:g} {height:g}" {size} role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="evx-page" {size}/>',
        *_title(title),
        *_legend(legend, top=24.0 + _LINE * len(_title_lines(title))),
        *_axes(area, area.x.ticks() if x_ticks is None else x_ticks, words),
        *shapes,
        *(_text("note", line, x=LEFT, y=bottom + 62.0 + _LINE * k) for k, line in enumerate(note)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axes(area: PlotArea, x_ticks: Sequence[tuple[float, str]], words: PlotWords) -> list[str]:
    left, right, bottom = LEFT, WIDTH - RIGHT, area.top + HEIGHT
    lines: list[str] = []
    for value, text in area.y.ticks():
        y = area.down(value)
        lines += [
            f'<line class="evx-grid" x1="{left:g}" x2="{right:g}" y1="{y:g}" y2="{y:g}"/>',
            _text("tick", text, x=left - 7, y=y + 4, anchor="end"),
        ]
    for value, text in x_ticks:
        x = area.across(value)
        lines += [
            f'<line class="evx-axis" x1="{x:g}" x2="{x:g}" y1="{bottom:g}" y2="{bottom + 5:g}"/>',
            _text("tick", text, x=x, y=bottom + 19, anchor="middle"),
        ]
    middle = area.top + HEIGHT / 2.0
    lines += [
        f'<path class="evx-axis" d="M{left:g} {area.top:g}V{bottom:g}H{right:g}"/>',
        _text("label", words.x_label, x=(left + right) / 2.0, y=bottom + 40, anchor="middle"),
        f'<g transform="translate(18 {middle:g}) rotate(-90)">{_text("label", words.y_label, anchor="middle")}</g>',
    ]
    return lines


def _title(title: str) -> list[str]:
    return [_text("title", line, x=LEFT, y=22.0 + _LINE * k) for k, line in enumerate(_title_lines(title))]


def _title_lines(title: str) -> list[str]:
    return textwrap.wrap(_clean(title), width=int((WIDTH - LEFT - RIGHT) / (_CHARACTER + 0.8))) or [""]


def _legend_rows(legend: Sequence[Legend]) -> list[list[tuple[float, Legend]]]:
    """Return the entries of each row with the pixel at which each begins."""
    rows: list[list[tuple[float, Legend]]] = []
    x = WIDTH
    for entry in legend:
        width = 48.0 + _CHARACTER * len(_clean(entry.name))
        if not rows or x + width > WIDTH - RIGHT:
            rows.append([])
            x = LEFT
        rows[-1].append((x, entry))
        x += width
    return rows


def _legend(legend: Sequence[Legend], *, top: float) -> list[str]:
    lines: list[str] = []
    for row, entries in enumerate(_legend_rows(legend)):
        y = top + _LINE * row
        for x, entry in entries:
            key = colour_class(entry.colour)
            sample = (
                f'<line class="evx-curve {key}" x1="{x:g}" x2="{x + 26:g}" y1="{y:g}" y2="{y:g}"/>'
                if entry.line
                else f'<rect class="evx-bar {key}" x="{x + 6:g}" y="{y - 6:g}" width="14" height="11"/>'
            )
            lines += [sample, _text("tick", entry.name, x=x + 32, y=y + 4)]
    return lines


def _text(kind: str, text: str, *, x: float = 0.0, y: float = 0.0, anchor: str = "start") -> str:
    return f'<text class="evx-{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(_clean(text))}</text>'


def colour_class(index: int) -> str:
    """Return the class that gives colour number ``index``; colours repeat after the eighth."""
    return f"evx-{index % len(COLOURS)}"


def _clean(text: str) -> str:
    """Return ``text`` without what XML cannot hold."""
    return _UNPRINTABLE.sub("�", text)


def _colour_rules(colours: Sequence[str]) -> str:
    return "".join(f".evx-{k}{{stroke:{colour};fill:{colour}}}" for k, colour in enumerate(colours))


_STYLE: Final = (
    ".evx{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    ".evx-page{fill:#fff}.evx-title{font-size:14px;font-weight:600;fill:#1b1f24}"
    ".evx-tick,.evx-label{font-size:12px;fill:#1b1f24}.evx-note{font-size:11px;fill:#57606a}"
    ".evx-axis{stroke:#57606a;fill:none}.evx-grid{stroke:#d8dee4}"
    + _colour_rules(COLOURS)
    + ".evx .evx-curve{fill:none;stroke-width:2;stroke-linejoin:round}.evx .evx-dot{stroke:none}"
    ".evx .evx-ring{fill:none;stroke-width:2.4}"
    ".evx .evx-band{stroke:none;fill-opacity:.16}.evx .evx-bar{stroke:none}.evx .evx-error{stroke-width:1.3}"
    + "".join(f".evx .evx-curve.evx-{k}{{stroke-dasharray:{dash}}}" for k, dash in enumerate(DASHES))
    + "@media (prefers-color-scheme:dark){.evx-page{fill:#15181c}.evx-title,.evx-tick,.evx-label{fill:#e6e9ec}"
    ".evx-note{fill:#a9b1ba}.evx-axis{stroke:#a9b1ba}.evx-grid{stroke:#333a42}" + _colour_rules(_DARK) + "}"
)
