"""The page of several types, in a real browser."""

import networkx as nx
import numpy as np
import pytest
from pages import scroll_to

import comarkov
from comarkov import Data, MultiwayClustering
from comarkov.results.multiway_results import MultiwayResults


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
    assert page.locator("article.card").count() == 6
    scroll_to(page, "#blocks-1")
    page.locator("#blocks-1 td[tabindex='0']").hover()
    assert "lift" in page.locator("#tip").inner_text()
    page.locator("#blocks-1 td[tabindex='0']").click()
    assert page.locator("#card-0-0.lit").count() == 1
    page.locator("#blocks-1 td[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#where-1").inner_text() != ""
    with page.expect_download() as download:
        page.get_by_role("button", name="Download tag.csv").click()
    assert download.value.path().read_text() == results.tables()["tag.csv"]
    page.locator("summary", has_text="All 12 members").first.click()
    assert page.locator(".all-members").first.is_visible()


def test_a_network_is_drawn_with_its_groups(opened, tmp_path):
    graph = nx.relabel_nodes(nx.ring_of_cliques(4, 6), lambda node: f"<{node}>")
    results = comarkov.communities(graph)
    results.write(tmp_path / "out")
    page = opened(tmp_path / "out" / "report.html")
    assert page.locator(".network-drawing circle").count() == 24
    assert page.locator(".network-drawing line").count() == graph.number_of_edges()
    colours = page.locator(".network-drawing circle").evaluate_all(
        "dots => dots.map((dot) => dot.getAttribute('fill'))"
    )
    assert len(set(colours)) == 4
    page.locator(".network-drawing circle").first.click()
    assert page.locator(".card.lit").count() == 1
    assert "within itself" in page.locator("#relation-0").inner_text()


def test_a_phone_and_a_dark_screen(opened, written):
    page = opened(written, width=390, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_elements_add_is_the_information_kept(results):
    """Bits of rows, or of columns, add up to I(X̄;Ȳ) of a relation."""
    for relation in results.relations:
        for axis in (0, 1):
            kept = relation.information.row_clusters_column_clusters
            assert relation.element_bits(axis).sum() == pytest.approx(kept)
