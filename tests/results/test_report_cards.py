"""The cards of the report: titles that can be edited, all members, snippets, and what names do."""

import json
import re

import numpy as np
import pytest
from pages import downloaded, fits_the_window, page_of, picture, settle

from comarkov import CoClustering, Data, records

WORDS = np.array([f"word{i}" for i in range(12)])
EVIL = "<img src=x onerror=alert(1)>"


def texts_of(counts):
    """Each text has its words scattered among words that are not counted."""
    return [
        " ".join([*["filler"] * 60, *np.repeat(WORDS, line), EVIL, *["filler"] * 60])
        for line in counts
    ]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """300 documents in three clusters, with texts; some hundred are named alike."""
    rng = np.random.default_rng(0)
    topic = np.arange(300) % 3
    counts = rng.poisson(np.where(topic[:, None] == np.arange(12) // 4, 3, 0.3))
    counts[np.arange(300), 4 * topic] += 1
    names = [f"note {i}" for i in range(300)]
    data = Data(counts, names, WORDS, "note", "word", "notes", texts=texts_of(counts))
    model = CoClustering((3, 3), n_init=2, random_state=0).fit(counts)
    return page_of(tmp_path_factory.mktemp("documents"), model, data)


def lines(page, card="#rows-0"):
    return page.locator(f"{card} .long li .link").all_inner_texts()


def test_cards_of_records_show_the_names_of_categories_beside_their_shares(opened, tmp_path):
    lean = np.arange(120) % 2
    people = [
        {"favourite drink": ("beer", "tea")[i], "usual colour": ("red", "blue")[i]} for i in lean
    ]
    data = records(people)
    path = page_of(tmp_path, CoClustering(2, random_state=0).fit(data), data)
    names = opened(path, 1400).locator("#rows-0 .bars .link")
    assert names.count()
    assert all(name.bounding_box()["width"] > 60 for name in names.all())


def test_a_card_opens_to_all_members_that_can_be_searched_and_sorted(opened, documents):
    page = opened(documents)
    page.click("#rows-0 .more")
    assert page.get_attribute("#rows-0 .more", "aria-expanded") == "true"
    typical = page.locator("#rows-0 .lists > div:last-child .link").all_inner_texts()
    assert all("word" in text for text in typical)  # names say nothing: texts are shown instead
    assert len(lines(page)) == 60
    page.evaluate("document.querySelector('#rows-0 .long').scrollTop = 1e6")
    settle(page)  # the list grows as its end comes near
    assert len(set(lines(page))) == 100
    places = page.locator("#rows-0 .long li").evaluate_all("all => all.map(li => +li.ariaPosInSet)")
    assert places == list(range(1, 101))
    page.select_option("#rows-0 select", "name")
    numbers = [int(name.split()[1]) for name in lines(page)]
    assert numbers == sorted(numbers)
    page.select_option("#rows-0 select", "confident")
    sure = page.locator("#rows-0 .long .note").all_inner_texts()
    assert sure == sorted(sure, reverse=True)
    page.fill("#rows-0 input[type=search]", "note 1")
    assert all("note 1" in name for name in lines(page))
    size = page.locator("#rows-0 .long li").first.get_attribute("aria-setsize")
    assert page.inner_text("#rows-0 .count") == f"{size} of 100"
    page.fill("#rows-0 input[type=search]", "nothing like this")
    assert lines(page) == []
    page.click("#rows-0 .more")
    assert page.locator("#rows-0 .members").is_hidden()


def test_snippets_are_around_the_words_of_the_cluster_which_are_marked(opened, documents):
    page = opened(documents)
    page.click("#rows-0 .more")
    words = set(page.locator("#rows-0 .bars .link").all_inner_texts())
    snippets = page.locator("#rows-0 .long .snippet")
    for i in range(5):
        text = snippets.nth(i).inner_text()
        assert len(text) <= 210
        assert text.startswith("… ")
        assert set(snippets.nth(i).locator("mark").all_inner_texts()) == words & set(text.split())
    assert page.locator("img").count() == 0
    page.click("#rows-0 .long .link >> nth=0")
    assert page.locator("#selection .snippet mark").count() > 0


def test_a_title_is_edited_kept_and_downloaded(opened, documents):
    page = opened(documents)
    computed = page.inner_text("#rows-0-title")
    assert page.locator("#reset-titles").is_hidden()
    page.click("#rows-0-title .title")
    page.keyboard.type("never mind")
    page.keyboard.press("Escape")
    assert page.inner_text("#rows-0-title") == computed
    page.focus("#rows-0-title .title")
    page.keyboard.press("Enter")
    page.keyboard.type(EVIL)
    page.keyboard.press("Enter")
    assert page.inner_text("#rows-0-title") == EVIL
    assert page.evaluate("document.activeElement.innerText") == EVIL
    beside = page.locator("#blocks tbody th")
    assert EVIL in beside.all_inner_texts()
    name, content = downloaded(page, "#download-titles")
    titles = json.loads(content)
    assert name == "titles.json"
    assert titles["n_clusters"] == [3, 3]
    assert titles["numbered_from"] == 1
    assert titles["rows"]["1"] == EVIL
    assert set(titles["columns"]) == {"1", "2", "3"}
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text("#rows-0-title") == EVIL
    assert EVIL in beside.all_inner_texts()
    page.click("#reset-titles")
    assert page.inner_text("#rows-0-title") == computed
    assert computed in beside.all_inner_texts()
    page.click("#rows-0-title .title")
    page.keyboard.press("Delete")  # an empty title is none
    page.click("h1")
    assert page.inner_text("#rows-0-title") == computed


def test_cards_and_their_titles_follow_the_level(opened, documents):
    page = opened(documents)
    page.click("#rows-0-title .title")
    page.keyboard.type("mine")
    page.keyboard.press("Enter")
    page.click("#rows-fewer")
    assert page.inner_text("#rows-count") == "2"
    sizes = page.locator("#rows-cards .sizes b").all_inner_texts()
    assert sorted(sizes) == ["100 members", "200 members"]
    titles = json.loads(downloaded(page, "#download-titles")[1])
    assert titles["n_clusters"] == [2, 3]
    assert set(titles["rows"]) == {"1", "2"}
    page.click("#rows-1-title .title")
    page.keyboard.type("others")
    page.keyboard.press("Enter")
    assert "“others”" in page.inner_text("#rows-next")
    page.click("#rows-fewer")
    assert page.inner_text("#rows-title") == "1 note cluster"
    page.click("#back-to-fit")
    assert page.locator("#rows-cards .card").count() == 3
    assert page.inner_text("#rows-0-title") == "mine"


def test_titles_can_be_edited_where_nothing_can_be_stored(opened, documents):
    refuse = "get() { throw new DOMException('not here', 'SecurityError'); }"
    script = f"Object.defineProperty(window, 'localStorage', {{ {refuse} }})"
    page = opened(documents, script=script)
    page.click("#columns-2-title .title")
    page.keyboard.type("mine")
    page.keyboard.press("Enter")
    assert page.inner_text("#columns-2-title") == "mine"
    assert "Download them before you close" in page.inner_text("#titles-note")


def test_a_phone_reaches_its_first_card_soon_and_unfolds_it(opened, documents):
    page = opened(documents, 390)
    top = page.locator("#rows-0").bounding_box()["y"]
    assert top < 3 * 844
    assert page.locator("#rows-0").bounding_box()["height"] < 150
    assert page.locator("#rows-0 .lists").is_hidden()
    assert page.inner_text("#rows-0 .few").count("word") == 3
    page.click("#rows-0 .unfold")
    assert page.locator("#rows-0 .lists").is_visible()
    page.click("#rows-0 .more")
    assert page.locator("#rows-0 .long li").count() > 5
    fits_the_window(page)


def test_names_and_the_contents_lead_to_what_they_name(opened, documents):
    page = opened(documents)
    first = "#columns-1 .bars .link >> nth=0"  # distinctive, of the other side
    text = page.inner_text(first)
    page.click(first)
    assert re.match(r"note \d+ · note cluster ", page.inner_text("#selection"))
    assert text in page.inner_text("#selection .snippet")
    settle(page)
    assert re.match(r"rows [\d–]+ of 300 × all 12 columns", page.inner_text("#where"))
    assert page.evaluate("document.activeElement.id") == "heatmap"
    assert page.locator(".card.lit").get_attribute("id").startswith("rows-")
    page.click("#map-title")
    assert page.locator("#rows-map").is_hidden()
    page.click(".contents >> text=Map")
    page.locator("#rows-map").wait_for()
    assert page.locator("#rows-map").bounding_box()["width"] > 200
    page.click("#rows-title")
    assert page.locator("#rows-0").is_hidden()
    page.click("#selection >> text=Its cluster")
    assert page.locator(".card.lit").is_visible()


def test_paper_shows_all_sections_and_no_selection(opened, documents):
    page = opened(documents)
    page.emulate_media(media="print")
    plain = picture(page)
    page.emulate_media(media="screen")
    page.click("#rows-0 .lists .link >> nth=0")
    page.click("#zoom-all")
    page.emulate_media(media="print")
    assert picture(page) == plain
    for part in ("#blocks td", "#rows-0 .lists", "#download h3 + pre"):
        assert page.locator(part).first.is_visible(), part
    for part in ("#selection", ".contents", ".card .more", "#download-titles"):
        assert page.locator(part).first.is_hidden(), part
    page.emulate_media(media="screen")
    settle(page)
    assert page.locator("#selection").is_visible()
