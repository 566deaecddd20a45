"""What pytest leaves aside where an optional package is not installed."""

from importlib.util import find_spec

collect_ignore_glob = []
if not find_spec("torch"):
    collect_ignore_glob += ["src/mercer/gram/device/*", "src/mercer/solvers/device/*"]
