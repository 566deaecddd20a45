"""Check a site that was built: python docs/check_site.py [build/site]

Every link inside of it must lead to a page and a place that are there, and no page may load
anything from elsewhere.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r'<(\w+)\b[^>]*?\b(href|src)="([^"]*)"')


@cache
def places(page: Path) -> frozenset[str]:
    """Return the names of a page to which links can lead."""
    return frozenset(re.findall(r'\b(?:id|name)="([^"]+)"', page.read_text(encoding="utf-8")))


def faults(site: Path) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere, or loads from elsewhere."""
    for page in sorted(site.rglob("*.html")):
        if "_static" in page.parts:
            continue
        for tag, kind, link in LINK.findall(page.read_text(encoding="utf-8")):
            where = page.relative_to(site)
            if "://" in link or link.startswith(("data:", "mailto:")):
                if "://" in link and (kind == "src" or tag == "link"):
                    yield f"{where} loads {link}"
                continue
            path, _, place = unquote(link.replace("&amp;", "&")).partition("#")
            path = path.split("?")[0]
            target = Path(normpath(page.parent / path)) if path else page
            if not target.exists():
                yield f"{where}: {link} is not there"
            elif place and target.suffix == ".html" and place not in places(target):
                yield f"{where}: {link} has no such place"


if __name__ == "__main__":
    found = list(faults(Path(*(sys.argv[1:] or ["build/site"]))))
    print(*found or ["No link leads nowhere, and nothing is loaded from elsewhere."], sep="\n")
    sys.exit(bool(found))
