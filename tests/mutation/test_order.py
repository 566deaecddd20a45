"""The tests that are likely to notice a change come first."""

from __future__ import annotations

from pathlib import Path

from .mutants import Mutant
from .order import Order
from .workshop import ROOT


def test_what_names_the_file_comes_first_and_then_what_has_noticed_most() -> None:
    order = Order(["tests/problems", "tests/solvers/test_linear.py", "tests/solvers/test_smo.py"])
    mutant = Mutant(ROOT / "src" / "mercer" / "solvers" / "linear.py", 1, 0, 1, "0", "1")
    assert order.tests(mutant)[0] == "tests/solvers/test_linear.py"
    order.note("tests/problems/test_quadratic_program.py::test_repair[1 of 2]")
    order.note("the compiler")
    other = Mutant(Path("engine/nowhere_named.cpp"), 1, 0, 1, "0", "1")
    assert order.tests(other)[0] == "tests/problems/test_quadratic_program.py"
    assert sorted(order.tests(mutant)) == sorted(order.tests(other)) == sorted(order.tests(None))
