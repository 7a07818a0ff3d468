"""The page of an aggregated chain, in a real browser."""

from itertools import pairwise

import numpy as np
import pytest
from pages import settle

import comarkov
from comarkov import ChainResults, Data, MarkovAggregation, Results
from comarkov.joint.messages import InputError
from comarkov.results.report.network_pages import circle_order

NAMES = ["<b>sun</b>", "haze", "rain", "storm", "snow", "ice"]


@pytest.fixture(scope="module")
def results():
    blocks = np.kron([[8, 1, 1], [2, 6, 1], [0, 3, 7]], np.ones((2, 2)))
    counts = np.random.default_rng(0).poisson(20 * blocks)
    model = MarkovAggregation(3, random_state=0, held_out=0.3).fit(counts)
    data = Data(counts, NAMES, NAMES, "state", "state", "weather.csv")
    return ChainResults(model.fit(data), data, "comarkov chain weather.csv -k 3")


@pytest.fixture(scope="module")
def written(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain") / "out"
    results.write(folder)
    return folder / "report.html"


def shown_arrows(page):
    return page.evaluate("document.querySelectorAll('.arrow:not(.off)').length")


def test_the_page_shows_the_chain_and_its_controls_work(opened, written, results):
    page = opened(written)
    assert page.locator(".sentence").first.inner_text() == results.sentences[0]
    assert page.locator(".node").count() == 3
    arrows = int((results.probabilities > 0).sum()) - 3
    page.locator("#arrows").evaluate(
        "(slider) => { slider.value = 1; slider.dispatchEvent(new Event('input')); }"
    )
    assert shown_arrows(page) == 1
    assert f"strongest 1 of {arrows}" in page.locator("#arrows-shown").inner_text()
    page.locator("#cluster-1 .show").click()
    settle(page)
    assert page.locator("#cluster-1.lit").count() == 1
    around = (results.probabilities[1] > 0).sum() + (results.probabilities[:, 1] > 0).sum() - 2
    assert shown_arrows(page) in (around, around + 1)  # the strongest may be another's
    page.locator(".node").first.hover()
    assert "of the time" in page.locator("#tip").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download states.csv").click()
    assert download.value.path().read_text() == results.tables()["states.csv"]


def test_a_phone_a_dark_screen_and_paper(opened, written):
    page = opened(written, width=390, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    assert page.locator("#graph svg").is_visible()
    assert not page.locator("#arrows-control").is_visible()


def test_without_scripts_the_numbers_are_there(opened, written):
    page = opened(written, java_script_enabled=False)
    assert page.locator(".transitions tbody tr").count() == 3
    assert page.get_by_text("<b>sun</b>").first.is_visible()


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
    results.write(tmp_path / "letters")
    stored = comarkov.read(tmp_path / "letters" / "data.npz")
    assert stored.matrix.sum() == len(visits) - 1
    assert stored.row_names.tolist() == ["a", "b", "c"]


def test_results_of_a_co_clustering_name_those_of_a_chain():
    visits = list("abacabacbabacacabab")
    model = MarkovAggregation(2, random_state=0).fit(visits)
    with pytest.raises(InputError) as error:
        Results.of(model, visits)
    assert "ChainResults" in error.value.advice
