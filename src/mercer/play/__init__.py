"""The page of `mercer play`: points that one clicks, and what a machine makes of them."""

from mercer.play.answers import answer, read_question
from mercer.play.exporting import export
from mercer.play.server import serve
from mercer.play.table import table_in

__all__ = ["answer", "export", "read_question", "serve", "table_in"]
