"""The generators of this folder are modules beside the tests, which need the extra `app`."""

import sys
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("pandas", "polars", "skrub", "pyarrow", "openpyxl")
if not all(map(find_spec, NEEDED)):
    collect_ignore_glob = ["*.py"]

sys.path.insert(0, str(Path(__file__).parent))
