"""The page in a real browser: clicks, drags, keys and sliders, on a desk and on a phone."""

from __future__ import annotations

import time

import pytest

from mercer.play import answer, exporting

from .questions import TOKEN

TABLE = b"a,b,c,kind\n" + b"".join(
    b"%d.5,%d,%d,k%d\n" % (k, k * k % 7, 100 * k % 13, k % 2) for k in range(24)
)


class Page:
    """The page in a window, with a person's hands."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def open(self, **how):
        self.browser.requests()
        self.browser.open(self.address, **how)
        return self.wait("state.about && shown && !busy")

    def run(self, script):
        return self.browser.run(script)

    def wait(self, condition):
        """Wait until something is true of the page, and return what is seen there."""
        for _ in range(3000):
            if self.run(f"return Boolean({condition})"):
                return self.seen()
            time.sleep(0.02)
        raise AssertionError(f"{condition} never came true: {self.seen()}")

    def seen(self):
        return self.run(
            "return {points: state.points.length, last: state.points.at(-1), labels: state.labels,"
            " settings: state.settings, code: $('code').textContent,"
            " problem: $('problem').hidden ? '' : $('problem').textContent,"
            " error: $('numbers').querySelector('.main dd')?.textContent}"
        )

    def place(self, x, y):
        return self.run(
            f"const box = plane.getBoundingClientRect(), [x, y] = toScreen({x}, {y});"
            " return [box.x + plane.clientLeft + x, box.y + plane.clientTop + y];"
        )

    def mouse(self, kind, x, y, button="left"):
        held = 0 if kind == "mouseReleased" else {"left": 1, "right": 2}[button]
        what = {"type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": 1}
        self.browser.devtools("Input.dispatchMouseEvent", **what)

    def click(self, x, y, button="left"):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, *self.place(x, y), button)

    def key(self, name, times=1):
        for _ in range(times):
            self.browser.devtools("Input.dispatchKeyEvent", type="keyDown", key=name)
            self.browser.devtools("Input.dispatchKeyEvent", type="keyUp", key=name)

    def touch(self, *path):
        """Put a finger down, lead it along a path, and lift it."""
        kinds = ["touchStart", *["touchMove"] * (len(path) - 1)]
        for kind, (x, y) in zip(kinds, path):
            finger = [{"x": x, "y": y}]
            self.browser.devtools("Input.dispatchTouchEvent", type=kind, touchPoints=finger)
        self.browser.devtools("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def scroll_back(self):
        """Wait until the page no longer glides, and go to its beginning."""
        places = [None]
        while len(set(places[-6:])) > 1 or len(places) < 7:
            places.append(self.run("return scrollY"))
            time.sleep(0.02)
        self.run("scrollTo(0, 0)")
        self.wait("scrollY === 0")

    def choose_file(self, name, content):
        self.run(
            f"const file = new File([new Uint8Array({list(content)})], '{name}');"
            " const moved = new DataTransfer(); moved.items.add(file);"
            " $('file').files = moved.files; $('file').dispatchEvent(new Event('change'));"
        )

    def reload(self):
        self.browser.devtools("Page.reload")
        return self.wait("document.readyState === 'complete' && state.about && shown && !busy")

    def slide(self, name, place):
        self.run(
            f"const slider = $('set-{name}'); slider.value = {place};"
            " slider.dispatchEvent(new Event('input'));"
        )


@pytest.fixture
def page(browser, port):
    opened = Page(browser, f"http://127.0.0.1:{port}/{TOKEN}/")
    yield opened
    assert browser.messages() == []
    elsewhere = ("chrome:", "data:", opened.address)  # the first is the browser's own first page
    assert [one for one in browser.requests() if not one.startswith(elsewhere)] == []


def test_points_are_added_moved_and_taken_away(page):
    before = page.open(width=1200)
    page.click(0.5, -1.9)
    after = page.wait(f"state.points.length === {before['points'] + 1} && !busy")
    assert after["last"] == pytest.approx([0.5, -1.9], abs=0.02)
    x, y = page.place(0.5, -1.9)
    page.mouse("mousePressed", x, y)
    page.mouse("mouseMoved", x + 30, y)
    page.mouse("mouseMoved", x + 60, y - 40)
    page.mouse("mouseReleased", x + 60, y - 40)
    moved = page.wait("state.dragged < 0 && !busy")
    assert moved["points"] == after["points"]
    assert page.place(*moved["last"]) == pytest.approx([x + 60, y - 40], abs=1.5)
    assert str(moved["last"]) in moved["code"]
    page.click(*moved["last"], button="right")
    assert page.wait("!busy")["points"] == before["points"]
    page.run("$('undo').click()")
    assert page.wait("!busy")["last"] == moved["last"]
    page.run("$('erase').click()")
    page.click(*moved["last"])
    assert page.wait("!busy")["points"] == before["points"]


def test_a_slider_moves_the_machine_and_what_is_told(page):
    page.open(width=1200)
    page.slide("C", 200)
    seen = page.wait("shown && $('code').textContent.includes('C=1000') && !busy")
    assert "C=1000.0, kernel='rbf', gamma=1.0" in seen["code"]
    assert page.run("return $('sliders').querySelector('output').textContent") == "1000"
    error = page.wait("/^\\d/.test($('numbers').querySelector('.main dd').textContent)")["error"]
    points = page.run("return question()")
    assert error == answer(points | {"ask": "error"})["value"]
    page.wait("surface.done")
    drawn = page.run("return [...surface.values.values()].filter(value => value !== null).length")
    assert drawn > 50
    x, y = page.run(
        "map.scrollIntoView(); const {h, cw, ch} = placesOfMap();"
        " const box = map.getBoundingClientRect();"
        " return [box.x + EDGE.left + 6.5 * cw, box.y + h - EDGE.bottom - 4.5 * ch];"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, x, y)
    seen = page.wait("state.settings.C === 10 && shown && !busy")
    assert "C=10.0, kernel='rbf', gamma=1.0" in seen["code"]


def test_all_can_be_done_with_keys(page):
    page.open(width=1200)
    page.run("$('clear').click(); plane.focus()")
    assert page.wait("!$('problem').hidden")["problem"].startswith("Put points of at least two")
    page.key("Enter")
    page.key("ArrowRight", 12)
    page.key("2")
    page.key("Enter")
    seen = page.wait("shown && !busy")
    assert (seen["points"], seen["labels"], seen["problem"]) == (2, [0, 1], "")
    page.key("Enter")  # picks up the point under the cross
    page.key("ArrowUp", 3)
    page.key("Enter")
    page.wait("state.carried < 0 && !busy")
    (first, second) = page.run("return state.points.map(point => toScreen(...point))")
    assert second[0] - first[0] == pytest.approx(96, abs=2)
    assert first[1] - second[1] == pytest.approx(24, abs=2)
    page.key("Delete")
    assert page.wait("!$('problem').hidden")["points"] == 1
    page.key("z")  # nothing
    page.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'z', ctrlKey: true}))")
    assert page.wait("shown && !busy")["points"] == 2


@pytest.fixture
def phone(page):
    page.browser.devtools("Emulation.setTouchEmulationEnabled", enabled=True)
    yield page
    page.browser.devtools("Emulation.setTouchEmulationEnabled", enabled=False)


def test_a_finger_adds_drags_and_scrolls(phone):
    """A tap adds a point, and what begins on a point drags it; other ways of it scroll."""
    before = phone.open(width=390)["points"]
    x, y = phone.place(1.5, 1.3)
    phone.touch((x, y))
    seen = phone.wait(f"state.points.length === {before + 1} && !busy")
    assert phone.place(*seen["last"]) == pytest.approx([x, y], abs=2)
    phone.touch((x, y), (x + 20, y - 20), (x + 20, y - 40), (x - 20, y - 60))
    seen = phone.wait("state.dragged < 0 && !busy")
    assert phone.place(*seen["last"]) == pytest.approx([x - 20, y - 60], abs=2)
    assert (seen["points"], phone.run("return scrollY")) == (before + 1, 0)
    phone.touch((x, y), *((x, y - step) for step in range(20, 200, 20)))
    phone.wait("scrollY > 50")
    phone.scroll_back()
    phone.touch((x, y), (x - 30, y), (x - 60, y))
    assert phone.wait("!busy")["points"] == before + 1
    phone.run("$('erase').click()")
    (x, y), last = phone.place(*seen["last"]), seen["last"]
    phone.touch((x, y), *((x, y - step) for step in range(20, 100, 20)))
    phone.wait("scrollY > 20")
    phone.scroll_back()
    assert phone.seen()["last"] == last
    phone.touch(phone.place(*last))
    phone.wait(f"state.points.length === {before} && !busy")


def test_a_phone_shows_picture_and_sliders_together(page):
    page.open(width=390)
    top, bottom = page.run(
        "return [plane.getBoundingClientRect().top, $('set-gamma').getBoundingClientRect().bottom]"
    )
    assert 0 < top < bottom < 844
    page.open(width=1200)
    assert page.run("return $('sliders').closest('section').className") == "panel"


def test_a_reload_keeps_what_was_done(page):
    page.open(width=1200)
    page.click(0.5, -1.9)
    page.slide("C", 200)
    before = page.wait("$('code').textContent.includes('C=1000') && !busy")
    assert page.reload() | {"error": ""} == before | {"error": ""}
    page.choose_file("parts.csv", TABLE)
    page.wait("!$('columns').hidden && shown && !busy")
    page.run("$('up').value = 'c'; $('up').dispatchEvent(new Event('change'));")
    before = page.wait("$('notice').textContent.includes(\"up 'c'\") && shown && !busy")
    after = page.reload()
    assert (after["points"], after["code"]) == (24, before["code"])
    assert page.run("return [$('up').value, state.axes[1].name]") == ["c", "c"]
    page.run("$('up').value = 'b'; $('up').dispatchEvent(new Event('change'));")
    page.wait("$('notice').textContent.includes(\"up 'b'\") && shown && !busy")
    assert page.open(width=1200)["points"] == 90  # the address anew, not a reload


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
def test_nothing_is_cut_off_with_any_machine(page, width, dark):
    page.open(width=width, dark=dark)
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(15, 19, 23)" if dark else "rgb(244, 245, 247)")
    for example, machine in (("flowers", "svc"), ("blob", "svdd"), ("wave", "svr")):
        page.run(f"loadExample('{example}'); state.machine = '{machine}'; machineChanged();")
        page.wait("shown && !busy && $('problem').hidden")
        assert page.run("return [document.documentElement.scrollWidth, innerWidth]") == [width] * 2
        cut = page.run(
            "return [...document.querySelectorAll('button, label, output, dt, dd, h1, h2, p, li')]"
            ".filter(one => one.offsetParent && one.scrollWidth > one.clientWidth + 1"
            " && getComputedStyle(one).display !== 'inline').map(one => one.textContent)"
        )
        assert cut == []
        painted = page.run(
            "const copy = new OffscreenCanvas(plane.width, plane.height).getContext('2d');"
            " copy.drawImage(plane, 0, 0);"
            " const c = copy.getImageData(0, 0, plane.width, plane.height).data;"
            " const seen = new Set(); for (let k = 0; k < c.length; k += 4 * 97)"
            " seen.add([c[k], c[k + 1], c[k + 2]].join()); return seen.size"
        )
        assert painted > 5


def test_a_table_is_opened_and_its_columns_chosen(page):
    page.open(width=1200)
    page.choose_file("parts.csv", TABLE)
    seen = page.wait("!$('columns').hidden && shown && !busy")
    assert seen["points"] == 24
    assert page.run("return $('notice').textContent") == "Across 'a', up 'b', class 'kind'."
    assert "pd.read_csv('parts.csv')" in seen["code"]
    page.run("$('up').value = 'c'; $('up').dispatchEvent(new Event('change'));")
    seen = page.wait("$('notice').textContent.includes(\"up 'c'\") && shown && !busy")
    assert "columns = ['a', 'c']" in seen["code"]
    page.click(0, 0)
    seen = page.wait("state.points.length === 25 && shown && !busy")
    assert "From 'parts.csv', changed by hand." in seen["code"]
    page.run("$('undo').click()")
    assert "pd.read_csv('parts.csv')" in page.wait("state.points.length === 24 && !busy")["code"]


def test_a_file_that_cannot_be_read_changes_nothing(page):
    page.open(width=1200)
    page.choose_file("parts.csv", TABLE)
    before = page.wait("!$('columns').hidden && shown && !busy")
    page.choose_file("bad.csv", b"hello\n\xff,1\n")
    seen = page.wait("!$('problem').hidden")
    assert "'bad.csv'" in seen["problem"]
    assert seen | {"problem": "", "error": ""} == before | {"error": ""}
    page.run("$('dismiss').focus()")
    page.key("Escape")
    assert page.run("return [$('problem').hidden, document.activeElement.id]") == [True, "plane"]
    page.run("$('up').value = 'c'; $('up').dispatchEvent(new Event('change'));")
    seen = page.wait("$('notice').textContent.includes(\"up 'c'\") && shown && !busy")
    assert (seen["problem"], page.run("return state.axes[1].name")) == ("", "c")
    page.run("$('up').value = 'a'; $('up').dispatchEvent(new Event('change'));")
    page.wait("!$('problem').hidden")
    assert page.run("return [$('across').value, $('up').value]") == ["a", "c"]
    x, y = page.run(
        "const box = $('dismiss').getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, x, y)
    assert page.wait("$('problem').hidden")["points"] == 24


def test_a_server_that_has_stopped_is_told(page):
    page.open(width=1200)
    page.run("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    page.slide("C", 10)
    seen = page.wait("!$('problem').hidden")
    assert seen["problem"] == "The server does not answer; start mercer play again."


def test_the_page_without_a_server(browser, tmp_path, monkeypatch):
    """Every place of every slider has a fit, and the picture is that of the library."""
    monkeypatch.setattr(exporting, "SHOWN", {"moons": ("svc", "rvc"), "ring": ("svdd",)})
    steps = {"C": [1.0, 10.0], "gamma": [0.2, 0.8], "nu": [0.1, 0.2]}
    monkeypatch.setattr(exporting, "STEPS", steps)
    written = exporting.export(tmp_path)
    assert sorted(path.name for path in written) == ["fits.js", "index.html", "play.css", "play.js"]
    page = Page(browser, written[0].as_uri())
    page.open(width=1200)
    for example, machines in exporting.SHOWN.items():
        for machine in machines:
            for kernel in exporting.KERNELS:
                page.run(
                    f"loadExample('{example}'); state.machine = '{machine}';"
                    f" state.kernel = '{kernel}'; machineChanged();"
                )
                for place in (0, 1):
                    for name in page.run("return moved()"):
                        page.slide(name, place)
                    page.wait("shown && !busy && $('problem').hidden")
    page.run("loadExample('moons'); state.kernel = 'rbf'; machineChanged();")
    page.slide("C", 1)
    page.slide("gamma", 1)
    page.wait("shown && !busy && $('code').textContent.includes('C=10.0')")
    error = page.wait("/^\\d/.test($('numbers').querySelector('.main dd').textContent)")["error"]
    asked = page.run("return {...question(), settings: {C: 10, gamma: 0.8}}")
    assert error == answer(asked | {"ask": "error"})["value"]
    assert page.run("return state.points.length") == 90
    page.click(0, 0)
    assert page.seen()["points"] == 90  # they stay
    seen = page.reload()
    assert "C=10.0, kernel='rbf', gamma=0.8" in seen["code"]
    assert page.run("return document.documentElement.scrollWidth") == 1200
    assert browser.messages() == []
    assert [one for one in browser.requests() if not one.startswith(("file:", "data:"))] == []
