"""Claims about the pages in Chromium: mouse, keyboard, reload, narrow screens; skipped where it is absent."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import make_contexts_of
from sqlalchemy import select
from test_load import free_port, served
from verify_people import TOKEN, make_run, small_pool

from swag_af.cli.main import main
from swag_af.data.disk.files import write_json
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run
from swag_af.judging.verdicts import read_verdicts, with_ordered_columns
from swag_af.verify.desk import Desk
from swag_af.verify.items import Rules
from swag_af.verify.schema import tasks
from swag_af.verify.store import FOLDER, open_store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "no-sandbox disable-gpu disable-quic no-first-run "
    "disable-background-networking disable-component-update disable-sync"
)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in FLAGS.split()])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A run that is served, seven items a person, and its address."""
    folder = tmp_path_factory.mktemp("site")
    run = make_run(small_pool(40), folder / "run")
    assert run.path is not None
    port = free_port()
    keys = {"admin_token": TOKEN, "secret": "5" * 64}  # or once in twenty times nobody would choose a gold ending
    write_json(run.path / FOLDER / "keys.json", keys)
    options = ("--items-per-annotator", 7, "--completion-code", "C0DE", "--min-gold-share", 0)
    with served(run.path, port, *options):
        yield run.path, f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def wordy_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a run with long contexts that begin with an unbroken word, with all columns of the admin page."""
    contexts = [
        replace(one, sent1=f"See https://example.org/{'donaudampfschiff' * 40}{i} {'and read on ' * 90}.")
        for i, one in enumerate(make_contexts_of(40, n_videos=10))
    ]
    negatives = [[f"sees {k} birds, {i} trees and a cat." for k in range(12)] for i in range(40)]
    pool = CandidatePool.from_texts(contexts, negatives, tagger="none")
    run, port = make_run(pool, tmp_path_factory.mktemp("wordy") / "run"), free_port()
    assert run.path is not None
    with served(run.path, port, "--limit", 24, "--check-every", 4, "--min-seconds", 2):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def page(chromium: "Browser") -> "Iterator[Page]":
    """A page that fails the test when a script does, or anything is fetched from elsewhere."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: None if "//127.0.0.1:" in request.url else faults.append(request.url))
    yield page
    context.close()
    assert faults == []


def begin(page: "Page", address: str, name: str) -> None:
    page.goto(f"{address}/enter?annotator={name}")
    with page.expect_navigation():
        page.get_by_role("button", name="Begin").click()


def progress(page: "Page") -> str:
    return page.locator("#progress").inner_text()


def by_mouse(page: "Page") -> None:
    """Judge the item on the page with the mouse alone."""
    for i in range(6):
        page.locator(f"#ending-{i} .choice.{'likely' if i < 4 else 'unlikely'}").click()
    page.locator("#ending-2 .choice.best").click()
    page.locator("#ending-0 .choice.second").click()
    with page.expect_navigation():
        page.locator("#next").click()


def by_keys(page: "Page", keys: str = "1l2u3l4u5l6g3b1s") -> None:
    """Judge the item on the page with the keyboard alone."""
    for key in keys:
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_three_items_by_mouse_three_by_keys_a_reload_and_the_dataset(
    page: "Page", site: tuple[Path, str], tmp_path: Path
) -> None:
    run, address = site
    begin(page, address, "ann")
    for k in range(3):
        assert progress(page) == f"Item {k + 1} of 7"
        by_mouse(page)
    for _ in range(3):
        by_keys(page)
    assert progress(page) == "Item 7 of 7"
    for key in "2g5l4b":
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    with page.expect_response(re.compile("/draft$")):
        page.keyboard.press("1")
        page.keyboard.press("u")
    page.reload()
    chosen = page.locator("input[type=radio]:checked").evaluate_all("all => all.map(one => one.name + ' ' + one.value)")
    assert sorted(chosen) == ["best 3", "rating-0 unlikely", "rating-1 gibberish", "rating-4 likely"]
    by_keys(page, "1l3l4l6u3s")
    assert page.get_by_role("heading", name="that is all").is_visible()
    assert page.get_by_text("C0DE").is_visible()
    assert page.evaluate("localStorage.length") == 0, "the server has them all"
    assert len([verdict for verdict in open_store(run).verdicts() if verdict.annotator == "ann"]) == 7
    export_and_release(page, run, address, tmp_path)


def export_and_release(page: "Page", run: Path, address: str, folder: Path) -> None:
    page.goto(f"{address}/admin")
    page.get_by_label("Token").fill(TOKEN)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("row", name=re.compile("^ann active 7 ")).is_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export verdicts").click()
    download.value.save_as(folder / "verdicts.jsonl")
    verdicts = read_verdicts(folder / "verdicts.jsonl", open_store(run).settings["pool_identity"])
    assert verdicts == [with_ordered_columns(verdict) for verdict in open_store(run).verdicts()]
    main(
        [
            "release",
            str(run),
            "--out",
            str(folder / "dataset"),
            "--verdicts",
            str(folder / "verdicts.jsonl"),
            "--formats",
            "none",
            "--audit",
            "none",
        ]
    )
    assert (folder / "dataset" / "train.csv").exists()


def test_z_goes_back_and_the_answer_can_be_changed(page: "Page", site: tuple[Path, str]) -> None:
    run, address = site
    begin(page, address, "bob")
    by_keys(page)
    with page.expect_navigation():
        page.keyboard.press("z")
    assert page.locator("#ending-2 .best input").is_checked()
    page.keyboard.press("5")
    page.keyboard.press("b")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert progress(page) == "Item 2 of 7"
    assert len([verdict for verdict in open_store(run).verdicts() if verdict.annotator == "bob"]) == 1


def test_an_ending_cannot_be_both_and_what_is_missing_is_said(page: "Page", site: tuple[Path, str]) -> None:
    begin(page, site[1], "cid")
    for key in "1l1b1s":
        page.keyboard.press(key)
    assert not page.locator("#ending-0 .best input").is_checked()
    page.keyboard.press("Enter")
    assert page.locator("#status").inner_text() == "Still to do: rate 2, 3, 4, 5 and 6 and mark the best."
    assert page.locator("#ending-1 input:focus").count() == 1


def test_keys_can_be_turned_off(page: "Page", site: tuple[Path, str]) -> None:
    begin(page, site[1], "dan")
    page.locator("summary").click()
    page.get_by_label("Keys on").uncheck()
    page.locator("#scene").focus()
    for key in "1l":
        page.keyboard.press(key)
    assert page.locator("input[type=radio]:checked").count() == 0
    page.reload()
    assert not page.locator("#keys").is_checked()


def test_tab_and_arrows_reach_everything(page: "Page", site: tuple[Path, str]) -> None:
    begin(page, site[1], "eve")
    page.locator("#ending-0 input").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#ending-0 .unlikely input").is_checked()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "next":
            break
    assert page.evaluate("document.activeElement.id") == "next"


@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_is_wider_than_the_screen(page: "Page", site: tuple[Path, str], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(f"{site[1]}/a/f{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    begin(page, site[1], f"f{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.locator(".choice").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 36).length"
    )
    assert small == 0


@pytest.mark.parametrize(("width", "stop"), [(360, 0), (1280, -1)])
def test_a_long_context_with_an_unbroken_word_is_no_wider_than_the_screen_and_scrolls_by_keys(
    page: "Page", wordy_site: str, width: int, stop: int
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    begin(page, wordy_site, f"w{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.wait_for_timeout(100)
    assert page.evaluate("document.getElementById('scene').tabIndex") == stop
    page.keyboard.press("PageDown")
    page.wait_for_timeout(500)
    assert (page.evaluate("document.getElementById('scene').scrollTop") > 0) == (stop == 0)


@pytest.mark.parametrize("width", [360, 641, 800, 1000, 1280])
def test_the_admins_page_with_all_columns_fits_and_its_buttons_can_be_seen(
    page: "Page", wordy_site: str, width: int
) -> None:
    """It was 876 wide on 641, and buttons were cut off."""
    begin(page, wordy_site, f"5f3a9c0b7d1e4a2b8c6d{width}")
    by_keys(page)
    page.goto(f"{wordy_site}/admin/login")
    page.fill("#admin_token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin")
    page.set_viewport_size({"width": width, "height": 740})
    assert page.get_by_text("Under 2 s").count()
    assert page.get_by_text("Checks passed").count()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".people button").evaluate_all(CUT_OFF) == []
    assert page.locator(".wide").evaluate_all(SCROLLING_WITHOUT_KEYS) == []
    assert page.get_by_role("group", name="Annotators").count() == 1


CUT_OFF = """all => all.map((one) => [one, one.closest(".wide")].map((node) => node.getBoundingClientRect().right))
    .filter(([right, edge]) => right > edge)"""

SCROLLING_WITHOUT_KEYS = """all => all.filter(one => one.scrollWidth > one.clientWidth && one.tabIndex < 0)
    .map(one => one.textContent)"""

CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => { const f = (c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const back = (node) => { for (; node; node = node.parentElement) {
      const c = parse(getComputedStyle(node).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest("[hidden]")) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(back(node))].sort((x, y) => y - x);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) poor.push(`${node.tagName} ${node.className} ${contrast.toFixed(2)}`);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough_in_light_and_dark(page: "Page", site: tuple[Path, str], scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{site[1]}/a/g{scheme}")
    assert page.evaluate(CONTRAST) == []
    begin(page, site[1], f"g{scheme}")
    page.locator("summary").click()
    for key in "1l2u3g4b5s":
        page.keyboard.press(key)
    assert page.evaluate(CONTRAST) == []


def test_a_reader_of_the_screen_hears_which_ending_and_what_is_asked(page: "Page", site: tuple[Path, str]) -> None:
    begin(page, site[1], "hal")
    words = page.locator("#ending-0 .words").inner_text()
    group = page.get_by_role("group", name=re.compile(rf"Ending 1: … {re.escape(words)}"))
    assert group.get_by_role("radio", name="Likely", exact=True).count() == 1
    assert group.get_by_role("radio", name="Ending 1 is the second best").count() == 1
    assert page.get_by_role("status").inner_text().startswith("Still to do")
    assert page.evaluate("document.activeElement.id") == "scene"


SIDES = """() => ["#scene", "#ending-0 .words", "#ending-1 .words"].map((name, i) => {
  const element = document.querySelector(name), range = document.createRange();
  element.textContent = i < 2 ? "הסוחר שוטף כיסא." : "He sits.";
  range.selectNodeContents(element);
  const card = (element.closest("legend") || element).getBoundingClientRect(), text = range.getBoundingClientRect();
  return card.right - text.right < 2 ? "right" : "left";
})"""


def test_every_text_begins_at_the_side_that_it_is_read_from(page: "Page", site: tuple[Path, str]) -> None:
    """Endings in Hebrew stood at the left, below a question at the right."""
    begin(page, site[1], "noa")
    assert page.evaluate(SIDES) == ["right", "right", "left"]


def test_without_a_script_the_form_works(chromium: "Browser", site: tuple[Path, str]) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    begin(page, site[1], "ivy")
    assert not page.locator(".keys").is_visible()
    by_mouse(page)
    assert progress(page) == "Item 2 of 7"
    context.close()


def test_a_choice_that_the_server_does_not_keep_is_said_to_be_lost(chromium: "Browser", site: tuple[Path, str]) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("**/draft", lambda route: route.fulfill(status=404))
    begin(page, site[1], "kim")
    page.keyboard.press("1")
    page.keyboard.press("l")
    page.get_by_text("Not saved").wait_for(timeout=5000)
    context.close()


def test_choices_that_could_not_be_sent_are_red_and_are_sent_once_the_server_answers(
    chromium: "Browser", site: tuple[Path, str]
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    begin(page, site[1], "lea")
    context.set_offline(True)
    for key in "1l2u3l4u5l6g3b1s":
        page.keyboard.press(key)
    page.get_by_text("Not saved").wait_for(timeout=5000)
    assert page.locator("#status").get_attribute("class") == "unsaved"
    page.keyboard.press("Enter")
    page.get_by_text("Not sent").wait_for(timeout=5000)
    assert page.locator("#status").get_attribute("class") == "unsaved"
    assert progress(page) == "Item 1 of 7"
    with page.expect_navigation(timeout=40_000):
        context.set_offline(False)
    assert progress(page) == "Item 2 of 7"
    context.close()
    assert "lea" in {verdict.annotator for verdict in open_store(site[0]).verdicts()}


def test_choices_that_were_not_sent_are_there_when_the_page_is_loaded_again(
    chromium: "Browser", site: tuple[Path, str]
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("**/draft", lambda route: route.abort())
    begin(page, site[1], "moe")
    for key in "2g5b":
        page.keyboard.press(key)
    page.get_by_text("Not saved").wait_for(timeout=5000)
    page.unroute("**/draft")
    with page.expect_response(re.compile("/draft$")):
        page.reload()
    assert page.locator("#ending-1 .choice.gibberish input").is_checked()
    assert page.locator("#ending-4 .choice.best input").is_checked()
    page.wait_for_timeout(300)
    assert page.evaluate("localStorage.length") == 0  # the server has them now
    context.close()


def test_a_change_that_was_not_kept_is_there_again_and_is_called_so_until_it_is_kept(
    page: "Page", site: tuple[Path, str]
) -> None:
    """The page said "Complete.", in green, and the change was gone with the page."""
    begin(page, site[1], "quinn")
    by_keys(page)
    with page.expect_navigation():
        page.keyboard.press("z")
    assert page.locator("#status").inner_text() == "Complete."
    address = page.url
    for key in "1g":
        page.keyboard.press(key)
    leave = [lambda: page.reload(), lambda: page.get_by_role("link", name="Back to the next item").click()]
    for go in leave:
        assert page.locator("#status").inner_text() == "Changed, not kept yet."
        assert page.locator("#status").get_attribute("class") == "changed"
        go()
        page.goto(address)
        assert page.locator("#ending-0 .gibberish input").is_checked()
    page.keyboard.press("1")
    page.keyboard.press("l")
    assert page.locator("#status").inner_text() == "Complete."
    assert page.evaluate("localStorage.length") == 0  # as it is kept
    page.keyboard.press("g")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(address)
    assert page.locator("#ending-0 .gibberish input").is_checked()
    assert page.locator("#status").inner_text() == "Complete."
    assert page.evaluate("localStorage.length") == 0


def test_that_an_answer_is_kept_is_said_once(page: "Page", site: tuple[Path, str]) -> None:
    begin(page, site[1], "rose")
    by_keys(page)
    assert page.locator("#status").inner_text().startswith("Your answer is kept. Still to do")
    assert page.url == f"{site[1]}/item"
    page.reload()
    assert page.locator("#status").inner_text().startswith("Still to do")


@pytest.mark.parametrize("refusal", [401, 403, 404, 422, "pause"])
def test_a_changed_answer_that_is_not_taken_stays_in_the_browser(
    chromium: "Browser", site: tuple[Path, str], refusal: int | str
) -> None:
    """The copy there is the only one, and was dropped.

    Requests are caught from the start: where that begins on an open page, its next one can still go past.
    """
    name = f"pat-{refusal}"
    context = chromium.new_context()
    page = context.new_page()
    refusing = False
    page.route(
        "**/item/*",
        lambda route: route.fulfill(status=int(refusal), body="no") if refusing else route.continue_(),
    )
    begin(page, site[1], name)
    by_keys(page)
    with page.expect_navigation():
        page.keyboard.press("z")
    for key in "5b":
        page.keyboard.press(key)
    desk = Desk(open_store(site[0]), Rules(open_run(site[0]).assignment()))
    refusing = refusal != "pause"
    desk.pause(name, not refusing)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    refusing = False
    desk.pause(name, False)
    with desk.store.engine.connect() as connection:
        (task,) = connection.scalars(
            select(tasks.c.id).where(tasks.c.annotator == name, tasks.c.answered_at.is_not(None))
        )
    page.goto(f"{site[1]}/item/{task}")
    assert page.locator("#ending-4 .choice.best input").is_checked()
    assert page.locator("#status").inner_text().startswith("Changed, not kept yet.")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"{site[1]}/item/{task}")
    assert page.locator("#ending-4 .choice.best input").is_checked()
    assert not page.locator("#status").inner_text().startswith("Changed")
    assert page.evaluate("localStorage.length") == 0
    context.close()
    desk.store.close()


def test_on_a_phone_the_scene_stays_and_covers_no_ending(page: "Page", site: tuple[Path, str]) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    begin(page, site[1], "ned")
    for place in (6, 2, 4, 1):
        page.keyboard.press(str(place))
        page.wait_for_timeout(100)
        scene, ending = (page.locator(name).bounding_box() for name in ("#scene", f"#ending-{place - 1}"))
        assert scene is not None
        assert ending is not None
        assert scene["y"] >= 0
        assert scene["y"] + scene["height"] <= ending["y"] + 1
    page.keyboard.press("6")
    page.wait_for_timeout(100)
    scene = page.locator("#scene").bounding_box()
    assert scene is not None
    assert scene["y"] == 0


def test_the_admins_page_fits_on_a_phone(page: "Page", site: tuple[Path, str]) -> None:
    begin(page, site[1], "a" * 64)
    page.goto(f"{site[1]}/admin/login")
    page.fill("#admin_token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    outside = page.locator(".people button").evaluate_all(
        "all => all.filter(b => b.getBoundingClientRect().right > 360).length"
    )
    assert outside == 0
