"""A console that names from data cannot steer."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from mercer.cli._screen import printable


class PlainConsole(Console):
    """One of rich that takes no markup, and shows signs that steer a terminal as a mark."""

    def __init__(self, *, stderr: bool = False) -> None:
        # Names of columns and classes may look like markup.
        super().__init__(stderr=stderr, highlight=False, markup=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is shown, of which only rich's own part may steer."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)
