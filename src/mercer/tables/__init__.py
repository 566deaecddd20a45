"""Tables as people have them: files, arrays and data frames to rows that one can learn from."""

from mercer.tables.as_table import as_table
from mercer.tables.as_unlabelled import as_unlabelled
from mercer.tables.common_scaler import CommonScaler
from mercer.tables.errors import InputError, suggestion
from mercer.tables.named_table import named_table
from mercer.tables.read_rows import NewRows, read_new_rows, read_rows
from mercer.tables.read_table import read_table
from mercer.tables.read_unlabelled import read_unlabelled
from mercer.tables.table import Table
from mercer.tables.table_model import TableModel
from mercer.tables.vectorizer import vectorizer

__all__ = [
    "CommonScaler",
    "InputError",
    "NewRows",
    "Table",
    "TableModel",
    "as_table",
    "as_unlabelled",
    "named_table",
    "read_new_rows",
    "read_rows",
    "read_table",
    "read_unlabelled",
    "suggestion",
    "vectorizer",
]
