"""Coarser and finer clusters in the report, compared with what the model cuts."""

import csv
import io
import shlex

import numpy as np
import pytest
from commands import run
from helpers import numbers
from pages import downloaded, fits_the_window, picture

import comarkov
from comarkov import CoClustering, Data, Results, datasets
from comarkov.results.words.figures import INFORMATIVE, bits_text, percent_text

LEVELS = ((4, 2), (1, 14), (16, 1), (2, 4), (3, 3))


@pytest.fixture(scope="module")
def model(women):
    return comarkov.load(women.parent)


@pytest.fixture(scope="module")
def results(women, model):
    """The results that the page is about."""
    return Results.of(model, comarkov.read(women.parent / "data.npz"))


def set_level(page, rows, columns):
    page.evaluate(
        """(level) => {
          for (const [side, number] of Object.entries(level)) {
            const slider = document.getElementById(`${side}-level`);
            slider.value = number;
            slider.dispatchEvent(new Event("input"));
          }
        }""",
        {"rows": rows, "columns": columns},
    )


def lines(page, side):
    """Of the table at the level that is shown."""
    content = downloaded(page, f"text=Download this level’s {side}.csv")[1]
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def card_titles(page, side):
    """By the number of the cluster; cards are in the order of the matrix."""
    badges = map(int, page.locator(f"#{side}-cards .badge").all_inner_texts())
    titles = page.locator(f"#{side}-cards .card h3").all_inner_texts()
    return [title for _, title in sorted(zip(badges, titles, strict=True))]


def test_levels_are_those_of_the_model(opened, women, model, results):
    page = opened(women)
    page.locator(".specialists").evaluate("details => { details.open = true; }")
    for level in LEVELS:
        set_level(page, *level)
        cut, findings = model.cut(level), results.cut(level).findings
        assert page.inner_text("#kept") == percent_text(cut.information_.kept)
        assert page.inner_text("#cost") == bits_text(cut.cost_)
        for side, k in zip(findings.sides, level, strict=True):
            name = f"{side.axis}s"
            assert page.inner_text(f"#{name}-level-now") == str(k)
            titles = card_titles(page, name)
            assert len(titles) == len(set(titles)) == k
            table = lines(page, name)
            assert [line["name"] for line in table] == side.names.tolist()
            assert [int(line["cluster"]) for line in table] == numbers(cut, name)
            assert [line["title"] for line in table] == [titles[a - 1] for a in numbers(cut, name)]
        rows = findings.rows
        for place, a in enumerate(rows.cluster_order):
            size = f"{rows.sizes[a]} member" + ("s" if rows.sizes[a] > 1 else "")
            text = page.inner_text(f"#rows-{place} .sizes")
            assert text == f"{size} · {percent_text(rows.shares[a])} of the weight"
            features = page.locator(f"#rows-{place} .bars li bdi").all_inner_texts()
            distinctive = rows.distinctive(a, 8)
            assert features == [each.name for each in distinctive if each.lift >= INFORMATIVE]


def test_the_command_writes_the_level(opened, women, model, tmp_path):
    page = opened(women)
    assert page.locator("#cut-note").is_hidden()
    set_level(page, 4, 2)
    words = shlex.split(page.inner_text("#cut-command"))
    assert words[:2] == ["comarkov", "cut"]
    done = run(*words[1:-1], tmp_path / words[-1], cwd=women.parent.parent)
    assert done.returncode == 0, done.stderr
    cut = comarkov.load(tmp_path / words[-1])
    assert np.array_equal(cut.row_labels_, model.cut((4, 2)).row_labels_)


def test_sliders_buttons_and_the_way_back(opened, women):
    page = opened(women)
    matrix, blocks, found = picture(page), page.inner_text("#blocks"), page.inner_text("#findings")
    page.focus("#rows-level")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#rows-level", "aria-valuetext") == "3 clusters"
    assert page.locator("#rows-cards .card").count() == 3
    assert picture(page) != matrix
    assert page.inner_text("#blocks") != blocks
    assert page.inner_text("#findings") != found  # of the level that is shown
    page.click("#columns-fewer")
    assert page.inner_text("#level-note").startswith("3 woman clusters × 2 event clusters, cut")
    assert "3 clusters and 14 events in 2 clusters keep" in page.inner_text(".lead")
    page.focus("#columns-fewer")
    page.keyboard.press("Enter")
    assert page.locator("#columns-fewer").is_disabled()  # at one cluster
    page.click("#back-to-fit")
    assert page.inner_text("#level-note") == "This is the fit: 2 woman clusters × 3 event clusters."
    assert page.locator("#back-to-fit").is_hidden()
    assert picture(page) == matrix
    assert (page.inner_text("#blocks"), page.inner_text("#findings")) == (blocks, found)


def test_one_fewer_merges_what_it_says_and_marks_stay(opened, women, model):
    page = opened(women)
    set_level(page, 4, 3)
    words = page.inner_text("#rows-next")
    before = card_titles(page, "rows")
    page.click("#rows-fewer")
    gone = set(before) - set(card_titles(page, "rows"))
    assert len(gone) == 2
    assert all(f"“{title}”" in words for title in gone)
    lost = model.cut((3, 3)).cost_ - model.cut((4, 3)).cost_
    assert words.endswith(f" (−{bits_text(lost)} bits)")
    title = page.inner_text("#rows-1 h3")
    page.click("#rows-1 .show")
    page.click("#columns-more")
    assert page.locator(".card.lit h3").inner_text() == title  # as long as the cluster is there
    set_level(page, 1, 3)
    assert page.locator(".card.lit").count() == 0


def test_colours_of_cells_are_a_choice_and_a_cluster_has_one_colour(opened, women):
    page = opened(women)
    weight = picture(page)
    assert page.input_value("#colour") == "weight"  # where all entries are equal
    for by, end in (("lift", "×2"), ("share", "%"), ("weight", "1")):
        page.select_option("#colour", by)
        assert (picture(page) == weight) == (by == "weight")
        assert page.inner_text("#high").endswith(end)
    background = "all => all.map(e => [e.innerText, e.style.background])"
    for side in ("rows", "columns"):
        cards, legend = (
            page.locator(f"{place} .badge").evaluate_all(background)
            for place in (f"#{side}-cards", f"#{side}-map-legend")
        )
        assert sorted(cards) == sorted(legend)
    colours = page.locator("#clusters .badge").evaluate_all(background)
    assert len({colour for _, colour in colours}) == 5  # none for a row and a column cluster


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """The report of a fit that chose its numbers of clusters, with rejected and empty rows."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(3, size=41), rng.integers(3, size=30)
    matrix = rng.poisson(np.where(rows[:, None] == columns, 6.0, 0.5))
    matrix[7] = 0
    matrix[9] = rng.poisson(2.0, 30)  # belongs nowhere
    data = Data(matrix, [f"row {i}" for i in range(41)], [f"item {i}" for i in range(30)])
    model = CoClustering("auto", reject=0.9, random_state=0).fit(data.matrix)
    folder = tmp_path_factory.mktemp("chosen") / "out"
    Results.of(model, data).write(folder)
    return folder / "report.html"


def test_the_suggested_number_is_marked_and_rejected_elements_come_back(opened, chosen):
    page = opened(chosen)
    model = comarkov.load(chosen.parent)
    k, l = model.hierarchy_.n_fitted
    mark = page.locator("#rows-suggested")
    assert mark.inner_text().split()[0] == str(k)
    assert mark.get_attribute("title") == model.selection_reason_
    page.click("#rows-more")
    assert (model.row_labels_ < 0).sum() > 1
    labels = [int(line["cluster"]) for line in lines(page, "rows")]
    assert labels == numbers(model.cut((k + 1, l)))
    assert labels.count(-1) == 1  # at other levels only what is empty
    mark.click()
    assert page.inner_text("#rows-level-now") == str(k)


def test_tables_on_a_phone(opened, chosen):
    """Wide ones scroll in their box, and lines are as high as their text."""
    page = opened(chosen, 400)
    for summary in ("How many clusters", "Parameters, seed"):
        page.click(f"summary >> text={summary}")
    heights = page.locator("#download tr").evaluate_all("all => all.map(row => row.clientHeight)")
    assert len(heights) > 20
    assert max(heights) < 40
    fits_the_window(page)


def test_one_side_alone(opened, tmp_path):
    result = datasets.load("southern-women")
    model = CoClustering((None, 3), random_state=0).fit(result.matrix)
    results = Results.of(model, result)
    results.write(tmp_path / "out")
    page = opened(tmp_path / "out" / "report.html")
    assert page.locator("#rows-level").count() == 0
    page.click("#columns-more")
    cut = model.cut((None, 4))
    assert page.inner_text("#kept") == percent_text(cut.information_.kept)
    assert " -l 4 " in page.inner_text("#cut-command")
    assert " -k" not in page.inner_text("#cut-command")
    assert shlex.split(page.inner_text("#cut-command"))[2] == "out"
    assert [int(line["cluster"]) for line in lines(page, "columns")] == numbers(cut, "columns")
