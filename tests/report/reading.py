"""A page as its parts, read by a parser that forgives nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Element:
    """An element with its attributes, texts and children."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parts: list[Element | str] = []

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Return all elements below, in their order; `class_` is one of the classes."""
        found = []
        for part in self.parts:
            if isinstance(part, Element):
                if part._fits(tag, attributes):
                    found.append(part)
                found += part.all(tag, **attributes)
        return found

    def _fits(self, tag: str, attributes: dict[str, str]) -> bool:
        wanted = dict(attributes)
        classes = (self.attributes.get("class") or "").split()
        name = wanted.pop("class_", None)
        return (
            tag in ("", self.tag)
            and (name is None or name in classes)
            and all(self.attributes.get(key) == value for key, value in wanted.items())
        )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs))
        self.open[-1].parts.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].parts.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].parts.append(data)


def read(html: str) -> Element:
    """Return the page; fails where an element is not ended."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [reader.root], "elements were left open"
    return reader.root


def pictures(html: str) -> dict[str, ElementTree.Element]:
    """Return the pictures as XML, by the word that begins their ids."""
    found = {}
    for svg in re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL):
        root = ElementTree.fromstring(svg)
        ids = {
            element.attrib["id"].split("-")[0] for element in root.iter() if "id" in element.attrib
        }
        (name,) = ids
        found[name] = root
    return found


def texts(svg: ElementTree.Element) -> list[str]:
    """Return the texts of a picture."""
    return ["".join(element.itertext()) for element in svg.iter("text")]
