"""Tables as people have them: files, arrays and data frames to rows that one can learn from."""

from mercer.tables.as_table import as_table
from mercer.tables.errors import InputError, suggestion
from mercer.tables.named_table import named_table
from mercer.tables.read_rows import read_rows
from mercer.tables.read_table import read_table
from mercer.tables.table import Table
from mercer.tables.vectorizer import vectorizer

__all__ = [
    "InputError",
    "Table",
    "as_table",
    "named_table",
    "read_rows",
    "read_table",
    "suggestion",
    "vectorizer",
]
