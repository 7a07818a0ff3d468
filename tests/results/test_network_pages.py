"""The pages of a chain, of several types and of a network, in a real browser."""

from itertools import pairwise
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from pages import downloaded, fits_the_window, scroll_to, settle

import comarkov
from comarkov import (
    ChainResults,
    Data,
    MarkovAggregation,
    MultiwayClustering,
    MultiwayResults,
    Results,
)
from comarkov.joint.messages import InputError
from comarkov.results.report.network_pages import circle_order

BACKGROUND = "all => all.map(each => getComputedStyle(each).backgroundColor)"
CSV = "[data-file='%s.csv']"
NAMES = ["<b>sun</b>", "haze", "rain", "storm", "snow", "ice"]


@pytest.fixture(scope="module")
def chain():
    blocks = np.kron([[8, 1, 1], [2, 6, 1], [0, 3, 7]], np.ones((2, 2)))
    counts = np.random.default_rng(0).poisson(20 * blocks)
    model = MarkovAggregation(3, random_state=0, held_out=0.3).fit(counts)
    data = Data(counts, NAMES, NAMES, "state", "state", "weather.csv")
    return ChainResults(model.fit(data), data, "comarkov chain weather.csv -k 3")


@pytest.fixture(scope="module")
def chain_path(chain, tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain") / "out"
    chain.write(folder)
    return folder / "report.html"


def shown_arrows(page):
    return page.evaluate("document.querySelectorAll('.arrow:not(.off)').length")


def test_the_page_shows_the_chain_and_its_controls_work(opened, chain_path, chain):
    page = opened(chain_path)
    assert page.locator(".sentence").first.inner_text() == chain.sentences[0]
    assert page.locator(".node").count() == 3
    circles = "all => all.map(each => getComputedStyle(each).fill)"
    badges = page.locator(".card .badge").evaluate_all(BACKGROUND)
    assert len(set(badges)) == 3
    assert sorted(page.locator(".node circle").evaluate_all(circles)) == sorted(badges)
    arrows = int((chain.probabilities > 0).sum()) - 3
    page.locator("#arrows").evaluate(
        "(slider) => { slider.value = 1; slider.dispatchEvent(new Event('input')); }"
    )
    assert shown_arrows(page) == 1
    assert f"strongest 1 of {arrows}" in page.locator("#arrows-shown").inner_text()
    page.locator("#cluster-1 .show").click()
    settle(page)
    assert page.locator("#cluster-1.lit").count() == 1
    around = (chain.probabilities[1] > 0).sum() + (chain.probabilities[:, 1] > 0).sum() - 2
    assert shown_arrows(page) in (around, around + 1)  # the strongest may be another's
    page.locator(".node").first.hover()
    assert "of the time" in page.locator("#tip").inner_text()
    assert downloaded(page, CSV % "states")[1].decode() == chain.tables()["states.csv"]


def test_pictures_are_saved(opened, chain_path, chain, written, results, tmp_path):
    page = opened(chain_path)
    assert_saved(page, "chain", {"circle": 3}, chain.titles[0])
    page = opened(written)
    assert_saved(page, "types", {"circle": 3}, "user")
    assert_saved(page, "blocks-1", {"rect": 5}, results.titles["user"][0])


def test_everything_works_by_touch(opened, chain_path, written):
    page = opened(chain_path, width=390, has_touch=True, is_mobile=True)
    page.locator(".node").nth(1).tap()
    assert page.locator(".card.lit").count() == page.locator(".node.lit").count() == 1
    page.locator("#cluster-2 .show").tap()
    assert page.locator("#cluster-2.lit").count() == 1
    page.locator("#arrows").tap(position={"x": 2, "y": 8})
    assert shown_arrows(page) < 6
    assert saved(page, "chain", "svg", tap=True)
    assert downloaded(page, CSV % "states", tap=True)
    page = opened(written, width=390, has_touch=True, is_mobile=True)
    page.locator("#blocks-1 td[data-row='1']").first.tap()
    assert page.locator("#card-0-1.lit").count() == 1
    page.locator("summary", has_text="All 12 members").first.tap()
    assert page.locator(".all-members").first.is_visible()
    page.locator(".relations a").first.tap()
    assert page.url.endswith("#relation-0")


def test_a_phone_a_dark_screen_paper_and_no_scripts(opened, chain_path):
    page = opened(chain_path, width=390, color_scheme="dark")
    fits_the_window(page)
    page.emulate_media(media="print")
    assert page.locator("#chain svg").is_visible()
    assert not page.locator("#arrows-control").is_visible()
    page = opened(chain_path, java_script_enabled=False)
    assert page.locator(".transitions tbody tr").count() == 3
    assert page.get_by_text("<b>sun</b>").first.is_visible()


def saved(page, picture, kind, tap=False):
    """The content of a picture that a button saves."""
    button = f"button.save[data-picture={picture}][data-kind={kind}]"
    name, content = downloaded(page, button, tap)
    assert name == f"{picture}.{kind}"
    return content


def assert_saved(page, picture, drawn, text):
    """Both files of a picture: a PNG of its size, and an SVG with as many parts and this text."""
    image = saved(page, picture, "png")
    root = ElementTree.fromstring(saved(page, picture, "svg"))
    size = [int.from_bytes(image[at : at + 4]) for at in (16, 20)]
    assert size == [round(3 * float(root.get(side))) for side in ("width", "height")]
    tags = [element.tag.split("}")[1] for element in root.iter()]
    assert {tag: tags.count(tag) for tag in drawn} == drawn
    assert text in [element.text for element in root.iter()]


def test_strongly_linked_clusters_are_neighbours_on_the_circle():
    ring = [0, 3, 1, 4, 2, 5]
    links = np.zeros((6, 6))
    for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
        links[a, b] = links[b, a] = 1
    order = circle_order(links)
    steps = [abs(order.index(a) - order.index(b)) for a, b in pairwise(ring)]
    assert {min(step, 6 - step) for step in steps} == {1}


@pytest.mark.parametrize("kind", ["auto", "sequences"])
def test_results_take_what_fit_takes(kind, tmp_path):
    visits = list("abacabacbabacacabab")
    results = ChainResults(MarkovAggregation(2, kind=kind, random_state=0).fit(visits), visits)
    assert sorted(results.titles) == ["a", "b · c"]
    assert results.is_counted
    with pytest.raises(InputError) as error:
        Results.of(results.fitted, visits)
    assert "ChainResults" in error.value.advice
    results.write(tmp_path / "letters")
    stored = comarkov.read(tmp_path / "letters" / "data.npz")
    assert stored.matrix.sum() == len(visits) - 1
    assert stored.row_names.tolist() == ["a", "b", "c"]


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    group = {"user": np.arange(8) % 2, "item": np.arange(6) % 2, "tag": np.arange(24) % 2}
    names = {name: [f"{name} <{i}>" for i in range(each.size)] for name, each in group.items()}

    def table(s, t):
        counts = rng.poisson(np.where(group[s][:, None] == group[t], 6, 1))
        return Data(counts, names[s], names[t], s, t, f"{s}-{t}.csv")

    data = {(s, t): table(s, t) for s, t in (("user", "item"), ("user", "tag"))}
    model = MultiwayClustering(2, random_state=0).fit(data)
    return MultiwayResults(model, data, "comarkov multi user-item.csv user-tag.csv -k 2")


@pytest.fixture(scope="module")
def written(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("multi") / "out"
    results.write(folder)
    return folder / "report.html"


def test_the_page_shows_all_types_and_its_controls_work(opened, written, results):
    page = opened(written)
    assert page.locator(".sentence").first.inner_text() == results.sentences[0]
    assert page.locator(".type").count() == 3
    assert len(set(page.locator(".card .badge").evaluate_all(BACKGROUND))) == 6
    assert page.locator("article.card").count() == 6
    scroll_to(page, "#blocks-1")
    page.locator("#blocks-1 td[tabindex='0']").hover()
    assert "lift" in page.locator("#tip").inner_text()
    page.locator("#blocks-1 td[tabindex='0']").click()
    assert page.locator("#card-0-0.lit").count() == 1
    page.locator("#blocks-1 td[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#where-1").inner_text() != ""
    assert downloaded(page, CSV % "tag")[1].decode() == results.tables()["tag.csv"]
    page.locator("summary", has_text="All 12 members").first.click()
    assert page.locator(".all-members").first.is_visible()
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme="dark")
    fits_the_window(page)


def test_a_network_is_drawn_with_its_groups(opened, tmp_path):
    graph = nx.relabel_nodes(nx.ring_of_cliques(4, 6), lambda node: f"<{node}>")
    results = comarkov.communities(graph)
    results.write(tmp_path / "out")
    page = opened(tmp_path / "out" / "report.html")
    assert page.locator(".network-drawing circle").count() == 24
    assert page.locator("#network").bounding_box()["y"] < 300  # the picture comes first
    assert page.locator(".network-drawing line").count() == graph.number_of_edges()
    colours = page.locator(".network-drawing circle").evaluate_all(
        "dots => dots.map((dot) => dot.getAttribute('fill'))"
    )
    assert len(set(colours)) == 4
    page.locator(".network-drawing circle").first.click()
    assert page.locator(".card.lit").count() == 1
    assert_saved(page, "network", {"circle": 24, "line": graph.number_of_edges()}, "<0>")
    page = opened(tmp_path / "out" / "report.html", width=390, has_touch=True, is_mobile=True)
    page.locator(".network-drawing circle").last.tap()
    assert page.locator(".card.lit").count() == 1
    assert "within itself" in page.locator(".opening").inner_text()


def test_what_elements_add_is_the_information_kept(results):
    """Bits of rows, or of columns, add up to I(X̄;Ȳ) of a relation."""
    for relation in results.relations:
        for axis in (0, 1):
            kept = relation.information.row_clusters_column_clusters
            assert relation.element_bits(axis).sum() == pytest.approx(kept)


def test_states_that_end_sequences_do_not_make_a_chain_differ():
    """They go nowhere, so that no state reveals more than its cluster."""
    visits = [["1", "2"], ["1", "4"], ["3", "2"], ["3", "4"], ["1", "2", "3", "4"]]
    model = MarkovAggregation(2, kind="sequences", random_state=0).fit(visits)
    text = " ".join(ChainResults(model, visits).sentences)
    assert ("not exactly" in text) == (model.lumpability_loss_ > 1e-9)
    assert model.lumpability_loss_ < 1e-9
    assert not model.lumpability_.holds()


def test_types_whose_names_are_alike_have_their_own_files(tmp_path):
    types = ["user", "User", "us/er", "us?er", "caf\u00e9", "cafe\u0301", "blocks", "x" * 300]
    data = {pair: Data(np.eye(3) + 1) for pair in pairwise(types)}
    model = MultiwayClustering(2, random_state=0).fit(data)
    MultiwayResults(model, data).write(tmp_path / "out")
    files = {path.name.casefold() for path in (tmp_path / "out").glob("*.csv")}
    assert len(files) == len(types) + 1
