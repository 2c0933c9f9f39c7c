"""A person at a real browser: whole games by mouse and by keyboard, on a desk and on a phone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
STATIC = Path(__file__).parents[2] / "src" / "goishi" / "web" / "static"

playwright = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the driver, not ours
]


@pytest.fixture(scope="module")
def site():
    """The address of a real server on a free port of the loopback."""
    command = [sys.executable, "-u", "-m", "goishi", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    assert server.stdout
    try:
        line = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        yield found[0]
    finally:
        server.terminate()
        server.wait(10)
        server.stdout.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, site):
    """Opens the site in a fresh browser; at the test's end nothing may have gone wrong or have left this machine.

    The driver's own questions to a page need eval, which the site's policy forbids; only a `strict` page keeps it.
    """
    contexts, asked, wrong = [], [], []

    def open_page(script="", strict=False, **more):
        context = browser.new_context(bypass_csp=not strict, **more)
        context.set_default_timeout(120_000)  # the first search of a new machine compiles
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.add_init_script(script)
        page.goto(site)
        page.wait_for_selector(".target")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong
    assert asked
    assert all(url.startswith(site) for url in asked)


@pytest.fixture
def page(visit):
    """A page on a desk."""
    return visit(viewport={"width": 1180, "height": 820})


def test_the_page_keeps_its_own_security_policy(visit):
    page = visit(strict=True)
    for game in ("Connect Four", "Tic-tac-toe"):
        page.select_option("#game", label=game)
        page.wait_for_selector(f"svg.board[aria-label^='{game}']")
        page.locator(".target.free").first.click()
        page.wait_for_selector(".pieces > .piece")
    page.click("#hints")
    page.wait_for_selector("#bar:not(.stale)")


def choose(page, game, opponent, size=None):
    if page.locator("#settings").is_hidden():  # folded, on a phone
        page.click("#choice")
    page.select_option("#game", label=game)
    if size:
        page.select_option("#size", label=size)
    page.select_option("#opponent", label=opponent)
    page.wait_for_selector(f"svg.board[aria-label^='{game}']")
    page.wait_for_selector("#board[aria-busy=false] .target.free")


def is_over(page):
    return "over" in (page.get_attribute("#status", "class") or "")


def test_a_whole_game_by_mouse_ends_with_a_sentence(page):
    choose(page, "Tic-tac-toe", "Random")
    while not is_over(page):
        moves = page.locator("#moves li").count()
        page.locator(".target.free").first.click()
        page.wait_for_function(f"document.querySelectorAll('#moves li').length > {moves}")
        page.wait_for_function(
            "document.querySelector('#status').className == 'over' || document.querySelector('.target.free')"
        )
    assert is_over(page)
    assert re.fullmatch(r"(You win|You lose) after \d moves\.|A draw\.", page.inner_text("#status"))
    assert page.locator("#moves li").count() >= 5
    page.click("#new")
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 0")


def test_a_whole_game_by_keyboard(page):
    choose(page, "Connect Four", "A friend")
    for move in range(7):  # four in the middle column for the one, next to it for the other
        page.keyboard.press("Enter")
        page.wait_for_function(f"document.querySelectorAll('#moves li').length == {move + 1}")
        page.keyboard.press("ArrowLeft" if move % 2 else "ArrowRight")
    page.wait_for_selector("#status.over")
    assert page.inner_text("#status") == "Red wins after 7 moves."
    assert page.locator(".pieces > .lit").count() == 4
    page.keyboard.press("u")
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 6")
    page.keyboard.press("n")
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 0")


def test_hints_show_the_favorite_moves_and_who_is_ahead(page):
    choose(page, "Tic-tac-toe", "A friend")
    page.click("#hints")
    page.wait_for_selector(".hint")
    shares = [int(text.rstrip("%")) for text in page.locator(".hint-text").all_text_contents()]
    assert 90 <= sum(shares) <= 110
    assert page.inner_text("#bar").count("%") == 2
    page.keyboard.press("h")
    page.wait_for_function("document.querySelectorAll('.hint').length == 0")


@pytest.mark.parametrize("game", ["Gomoku", "Connect Four", "Tic-tac-toe", "Othello", "Hex"])
def test_a_phone_shows_every_board_whole(page, game):
    page.set_viewport_size({"width": 360, "height": 740})
    choose(page, game, "A friend")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    left, top, right, bottom = page.evaluate(
        "() => { const b = document.querySelector('svg.board').getBoundingClientRect();"
        " return [b.left, b.top, b.right, b.bottom]; }"
    )
    assert left >= 0
    assert top >= 0
    assert right <= 360
    assert bottom <= 740
    heights = page.evaluate(
        "() => [...document.querySelectorAll('button')].map(b => b.getBoundingClientRect().height).filter(h => h > 0)"
    )
    assert min(heights) >= 43


def settings_of(page):
    return page.evaluate(
        "() => [...document.querySelectorAll('#settings select')].map(each => each.value)"
        ".concat([...document.querySelectorAll('#settings input:checked')].map(each => each.value))"
        ".concat(document.querySelector('#hints').getAttribute('aria-pressed'))"
    )


def test_what_was_chosen_is_still_chosen_after_a_reload(page):
    choose(page, "Hex", "Playouts", "5 × 5")
    page.click("#levels label:first-child")
    page.click("#begins label:last-child")
    page.wait_for_selector(".pieces > .piece")  # the opponent began
    page.click("#hints")
    before = settings_of(page)
    assert before == ["Hex", "5 × 5", "Playouts", "100 playouts", "opponent", "true"]
    page.reload()
    page.wait_for_selector("svg.board[aria-label^='Hex, 5']")
    page.wait_for_selector(".pieces > .piece")
    assert settings_of(page) == before
    page.wait_for_selector(".hint")


def test_another_board_keeps_the_opponent_and_another_game_begins_with_its_usual_size(page):
    choose(page, "Gomoku", "A friend", "9 × 9")
    page.select_option("#size", label="13 × 13")
    page.wait_for_selector("svg.board[aria-label='Gomoku, 13 by 13']")
    assert settings_of(page)[2] == "A friend"
    page.select_option("#game", label="Hex")
    page.wait_for_selector("svg.board[aria-label='Hex, 7 by 7']")
    assert settings_of(page)[2] == "A friend"


def test_a_choice_that_is_offered_no_more_gives_way_quietly(page):
    page.evaluate(
        """localStorage.setItem("goishi.settings", '{"game": "chess", "size": "9", "opponent": "Bob", "level": "x"}')"""
    )
    page.reload()
    page.wait_for_selector(".target.free")
    assert settings_of(page)[0] == "Gomoku"
    assert page.inner_text("#notice") == ""


def test_a_page_that_may_not_remember_plays(visit):
    page = visit("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } });")
    choose(page, "Tic-tac-toe", "A friend")
    page.locator("[data-point='4']").click()
    page.wait_for_selector(".pieces > .piece")


def test_on_a_phone_the_settings_fold_when_the_game_begins_and_open_when_asked_for(page):
    page.set_viewport_size({"width": 390, "height": 844})
    choose(page, "Connect Four", "A friend")
    page.locator(".target.free").first.click()
    page.wait_for_selector("#settings", state="hidden")
    assert page.inner_text("#choice") == "Connect Four · A friend"
    page.wait_for_function("document.documentElement.scrollHeight <= innerHeight")  # all on one screen
    page.reload()
    page.wait_for_selector(".target.free")
    assert page.locator("#settings").is_hidden()
    page.click("#choice")
    assert page.locator("#settings").is_visible()
    page.click("#choice")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_selector("#settings", state="visible")


def test_the_cursor_stays_where_the_keys_left_it_and_has_the_focus(page):
    choose(page, "Hex", "A friend", "5 × 5")
    for key in ("ArrowLeft", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".pieces > .piece")
    assert page.inner_text("#moves") == "b2"
    assert page.locator(".cursor .ring").count() == 1
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "b2, Red"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "c2, empty"
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 2")
    page.locator("[data-point='0']").click()
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 3")
    assert page.locator(".cursor .ring").count() == 0


def test_a_game_goes_on_after_the_connection_was_lost(visit):
    page = visit(
        "window.sockets = []; const Socket = window.WebSocket; window.WebSocket = class extends Socket {"
        " constructor(address) { super(address); window.sockets.push(this); } };"
    )
    choose(page, "Tic-tac-toe", "A friend")
    page.locator("[data-point='4']").click()
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 1")
    page.evaluate("window.sockets[0].close()")
    page.wait_for_function("document.querySelector('#notice').textContent.includes('lost')")
    page.wait_for_function("document.querySelector('#notice').textContent.includes('goes on')", timeout=15000)
    page.locator("[data-point='0']").click()
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 2")
    assert page.inner_text("#notice") == ""
    assert page.evaluate("window.sockets.length") == 2


def test_a_finger_aims_at_small_fields_before_it_plays(visit):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True)
    choose(page, "Gomoku", "A friend", "15 × 15")
    page.locator("[data-point='112']").tap()
    page.wait_for_selector(".cursor .ring")
    assert page.inner_text("#notice") == "Touch H8 again to play there."
    page.locator("[data-point='113']").tap()
    assert page.inner_text("#notice") == "Touch J8 again to play there."
    assert page.locator(".pieces > .piece").count() == 0
    page.locator("[data-point='113']").tap()
    page.wait_for_selector(".pieces > .piece")
    assert page.inner_text("#moves") == "J8"
    assert page.inner_text("#notice") == ""
    choose(page, "Tic-tac-toe", "A friend")
    page.locator("[data-point='4']").tap()
    page.wait_for_selector(".pieces > .piece")


def test_answers_about_a_game_that_was_left_are_not_shown(page):
    """Settings changed in a row: each asks for a game, and only the last one may ever be seen."""
    page.evaluate(
        "() => { window.seen = new Set(); new MutationObserver(() => {"
        " const board = document.querySelector('svg.board'); board && seen.add(board.getAttribute('aria-label')); })"
        ".observe(document.querySelector('#board'), { childList: true }); }"
    )
    page.evaluate(
        "() => { const pick = (id, text) => { const list = document.getElementById(id);"
        " list.selectedIndex = [...list.options].findIndex(option => option.label === text);"
        " list.dispatchEvent(new Event('change', { bubbles: true })); };"
        " pick('game', 'Hex'); pick('size', '5 × 5'); pick('opponent', 'A friend'); }"
    )
    page.wait_for_selector("#board[aria-busy=false] .target.free")
    assert page.evaluate("[...seen]") == ["Hex, 5 by 5"]


def test_two_quick_clicks_make_one_move_and_no_complaint(page):
    choose(page, "Tic-tac-toe", "Random")
    page.evaluate(
        "() => { for (const p of [4, 8]) document.querySelector(`[data-point='${p}']`)"
        ".dispatchEvent(new MouseEvent('click', { bubbles: true })); }"
    )
    page.wait_for_function("document.querySelectorAll('.pieces > .piece').length == 2")
    assert page.inner_text("#notice") == ""
    assert page.locator("#moves li").first.inner_text().endswith("b2")
    assert page.text_content("#spoken").startswith("Your opponent played ")
