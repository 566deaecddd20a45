"""The generators of this folder are modules beside the tests, which need the extra `app`."""

import sys
from pathlib import Path

import pytest

for package in ("pandas", "skrub", "pyarrow", "openpyxl"):
    pytest.importorskip(package)

sys.path.insert(0, str(Path(__file__).parent))
