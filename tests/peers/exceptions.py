"""Which tests of scikit-learn cannot hold here; as a script, it writes them into the docs."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("exceptions.toml")
PAGE = Path(__file__).parents[2] / "docs" / "coming_from_scikit_learn.md"
_MARKS = ("<!-- exceptions -->\n", "<!-- end of exceptions -->\n")


@dataclass(frozen=True)
class Exceptions:
    """What `exceptions.toml` says."""

    scikit_learn: str
    reasons: dict[str, str]
    tests: dict[str, dict[str, str]]
    """For each module, the names of tests and of their reasons."""

    @classmethod
    def read(cls) -> Exceptions:
        """Return what the file says."""
        content = tomllib.loads(TABLE.read_text(encoding="utf-8"))
        return cls(content.pop("scikit_learn"), content.pop("reasons"), content)

    def reason_of(self, module: str, test: str) -> str | None:
        """Return why a test cannot hold, None if it has to.

        Parameters
        ----------
        module, test : str
            The test with its parameters in brackets, if it has any.
        """
        listed = self.tests.get(module, {})
        name = listed.get(test, listed.get(test.split("[")[0]))
        return None if name is None else self.reasons[name]

    def as_markdown(self) -> str:
        """Return a table of reasons and tests."""
        lines = ["| difference | tests |", "|---|---|"]
        for name, reason in self.reasons.items():
            found = {
                f"`{module.split('.')[-1]}::{test.split('[')[0]}`": None
                for module, tests in self.tests.items()
                for test, why in tests.items()
                if why == name
            }
            lines.append(f"| {reason} | {', '.join(found)} |")
        return "\n".join(lines) + "\n"


def page_with(exceptions: Exceptions) -> str:
    """Return the page of the docs with the present table in it."""
    begin, end = _MARKS
    text = PAGE.read_text(encoding="utf-8")
    table = f"{begin}{exceptions.as_markdown()}{end}"
    return re.sub(f"{begin}.*{end}", lambda _: table, text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page_with(Exceptions.read()), encoding="utf-8")
