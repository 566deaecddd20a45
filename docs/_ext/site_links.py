"""Where names in docstrings and links of pages lead."""

import re
from posixpath import dirname, join, normpath, relpath

from docutils import nodes
from site_names import public_names, shown_as
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

END_OF_EXAMPLE = re.compile(r"\n\n```(?=\n)")
"""Doctest needs an empty line behind the last answer; a page does not."""

LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def on_site(path: str) -> str:
    """Turn a path in the repository into the path of its page below ``docs``."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"generated/{path}"


def relinked(text: str, path: str) -> str:
    """Turn the links of a page, whose path in the repository is given, into links of the site."""

    def turned(match: re.Match[str]) -> str:
        opening, link, rest = match.groups()
        if "://" in link or link.startswith("mailto:"):
            return match[0]
        target = on_site(normpath(join(dirname(path), link)))
        return opening + relpath(target, dirname(on_site(path)) or ".") + rest

    return LINK.sub(turned, text)


def relink_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn the links of a page that stands in ``docs`` itself, and drop what only doctest needs."""
    if app.env.doc2path(name, base=False).suffix != ".md":
        return
    source[0] = END_OF_EXAMPLE.sub("\n```", source[0])
    if not name.startswith("generated/"):
        source[0] = relinked(source[0], f"docs/{name}.md")


def find_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """Find what a docstring calls ``SVC``, ``mercer.svm.SVC`` or ``SVC.fit``."""
    if node.get("refdomain") != "py":
        return None
    *_, owner, last = ["", *node["reftarget"].strip(".").split(".")]
    by_last = {name.rpartition(".")[2]: shown_as(name) for name in public_names()}
    shown = by_last.get(last) or f"{by_last.get(owner)}.{last}"
    objects = env.get_domain("py").objects
    if shown not in objects:
        return None
    entry = objects[shown]
    uri = app.builder.get_relative_uri(node.get("refdoc", env.docname), entry.docname)
    return nodes.reference("", "", content, internal=True, refuri=f"{uri}#{entry.node_id}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", relink_page)
    app.connect("missing-reference", find_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
