"""The page in a real browser: on a phone, on a desk, in the dark and on paper."""

from __future__ import annotations

import re

import pytest

from mercer.report import write_report

from .cases import CASES, binary

WIDTHS = (360, 768, 1440)
A4_INSIDE = 680
"""Pixels between the margins of a sheet."""

CUT = """
const texts = [...document.querySelectorAll('svg.picture text')];
return texts.filter(text => {
  const inner = text.getBoundingClientRect();
  const outer = text.closest('section').getBoundingClientRect();
  return inner.left < outer.left || inner.right > outer.right + 0.5;
}).map(text => text.textContent);
"""

OVERLAP = """
const found = [];
for (const figure of document.querySelectorAll('figure')) {
  const [above, below] = ['h3', 'figcaption'].map(
    name => figure.querySelector(name).getBoundingClientRect());
  const texts = [...figure.querySelectorAll('svg text')].map(text => text.getBoundingClientRect());
  if (Math.min(...texts.map(box => box.top)) < above.bottom - 4) found.push('heading');
  if (Math.max(...texts.map(box => box.bottom)) > below.top + 4) found.push('caption');
}
return found;
"""

CONTRAST = """
function light(color) {
  const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element) {
  while (element) {
    const color = getComputedStyle(element).backgroundColor;
    if (!/, 0\\)$|transparent/.test(color)) return color;
    element = element.parentElement;
  }
  return 'rgb(255, 255, 255)';
}
function ratio(a, b) {
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
const words = [...document.querySelectorAll(
  'h1, h2, h3, p, th, td, dt, dd, a, figcaption, .mark, code')];
const inPictures = [...document.querySelectorAll('#errors-figure_1 text, #learning-figure_1 text')];
return Math.min(
  ...words.map(e => ratio(getComputedStyle(e).color, behind(e))),
  ...inPictures.map(e => ratio(getComputedStyle(e).fill, behind(e.closest('section')))));
"""


LINES = """
return [...document.querySelectorAll('.measures td')].map(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
});
"""


@pytest.fixture(scope="module")
def full_page(tmp_path_factory):
    """A page on which the table of measures has all its columns."""
    found = binary()
    found.results_ = found.results_.assign(trained_rows=456)
    return write_report(found, tmp_path_factory.mktemp("full") / "full.html")


@pytest.mark.parametrize("case", CASES)
def test_fits_every_width_without_a_word_in_the_console(case, browser, page):
    for width in WIDTHS:
        browser.requests()
        browser.open(page(case), width=width)
        wide, inner = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner == width
        assert browser.messages() == []
        local = ("file:", "data:", "chrome:")  # the last is the browser's own first page
        assert [address for address in browser.requests() if not address.startswith(local)] == []
        assert browser.run(CUT) == []
        assert browser.run(OVERLAP) == []


@pytest.mark.parametrize("case", ["binary", "unbalanced", "partial", "regression"])
def test_words_can_be_read_in_light_and_dark(case, browser, page):
    """4.5 to 1 is what the guidelines for accessible pages ask of texts (WCAG 2.2, 1.4.3)."""
    grounds = []
    for dark in (False, True):
        browser.open(page(case), dark=dark)
        assert browser.run(CONTRAST) >= 4.5
        grounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(244, 245, 247)", "rgb(15, 19, 23)"]


@pytest.mark.parametrize("case", ["binary", "odd_names", "wide"])
def test_prints_on_white_without_cutting(case, browser, page):
    """Also where the screen is dark."""
    browser.open(page(case), width=A4_INSIDE, dark=True, media="print")
    assert browser.run(CUT) == []
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    tallest = browser.run(
        "return Math.max(...[...document.querySelectorAll('figure')].map(f => f.offsetHeight))"
    )
    assert tallest < 1000  # of 1009 pixels on a sheet
    assert browser.run("return document.documentElement.scrollWidth") <= A4_INSIDE
    browser.open(page(case), dark=True)
    sheets = browser.pdf()
    assert sheets.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", sheets)) <= 12


def test_all_measures_fit_a_tablet_and_a_sheet(browser, full_page):
    """A number stays with its unit, and nothing is hidden at the side by a few pixels."""
    browser.open(full_page, width=1024)
    cut = "const e = document.querySelector('.measures').parentElement;"
    assert browser.run(f"{cut} return e.scrollWidth - e.clientWidth") <= 0
    browser.open(full_page, width=A4_INSIDE, media="print")
    assert set(browser.run(LINES)) == {1}
    heads = "document.querySelectorAll('.scroll th[scope=row], .scroll thead th:first-child')"
    style = (
        "const style = getComputedStyle(e); return [style.position, style.backgroundColor].join()"
    )
    found = browser.run(f"return [...{heads}].map(e => {{{style}}})")
    assert set(found) == {"static,rgba(0, 0, 0, 0)"}  # else they hide the lines below them
    assert browser.run("return document.documentElement.scrollWidth") <= A4_INSIDE


def test_code_is_copied_and_the_button_needs_a_script(browser, page):
    browser.open(page("binary"))
    browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    browser.run("document.getElementById('copy').focus(); document.getElementById('copy').click()")
    for _ in range(50):
        said = browser.run("return document.getElementById('copy').textContent")
        if said != "Copy":
            break
    assert said in ("Copied", "Marked: copy it now")
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page("binary"))
        node = browser.devtools("DOM.getDocument")["root"]["nodeId"]
        button = browser.devtools("DOM.querySelector", nodeId=node, selector="#copy")["nodeId"]
        attributes = browser.devtools("DOM.getAttributes", nodeId=button)["attributes"]
        assert "hidden" in attributes
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_tables_that_scroll_can_be_reached_by_keyboard(browser, page):
    browser.open(page("binary"), width=360)
    unreached = browser.run(
        "return [...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth"
        " && getComputedStyle(e).overflowX === 'auto' && e.tabIndex < 0).length"
    )
    assert unreached == 0
    scrolling = browser.run(
        "return [...document.querySelectorAll('.scroll')].filter("
        "e => e.scrollWidth > e.clientWidth).length"
    )
    assert scrolling >= 1
