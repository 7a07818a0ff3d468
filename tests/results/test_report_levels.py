"""Coarser and finer clusters in the report, compared with what the model cuts."""

import csv
import shlex

import numpy as np
import pytest
from commands import run
from pages import picture

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


def downloaded(page, side):
    with page.expect_download() as download:
        page.click(f"text=Download this level’s {side}.csv")
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def card_titles(page, side):
    """By the number of the cluster; cards are in the order of the matrix."""
    badges = map(int, page.locator(f"#{side}-cards .badge").all_inner_texts())
    titles = page.locator(f"#{side}-cards .card h3").all_inner_texts()
    return [title for _, title in sorted(zip(badges, titles, strict=True))]


def test_levels_are_those_of_the_model(opened, women, model, results):
    page = opened(women)
    page.locator(".specialists").evaluate("details => { details.open = true; }")
    for numbers in LEVELS:
        set_level(page, *numbers)
        cut, findings = model.cut(numbers), results.cut(numbers).findings
        assert page.inner_text("#kept") == percent_text(cut.information_.kept)
        assert page.inner_text("#cost") == bits_text(cut.cost_)
        for side, k in zip(findings.sides, numbers, strict=True):
            name = f"{side.axis}s"
            assert page.inner_text(f"#{name}-level-now") == str(k)
            titles = card_titles(page, name)
            assert len(titles) == len(set(titles)) == k
            lines = downloaded(page, name)
            assert [line["name"] for line in lines] == side.names.tolist()
            assert [int(line["cluster"]) for line in lines] == side.labels.tolist()
            assert [line["title"] for line in lines] == [titles[a] for a in side.labels]


def test_sizes_shares_and_features_are_those_of_the_cut(opened, women, results):
    page = opened(women)
    set_level(page, 5, 3)
    findings = results.cut((5, 3)).findings
    for a in range(5):
        size = f"{findings.rows.sizes[a]} member" + ("s" if findings.rows.sizes[a] > 1 else "")
        share = percent_text(findings.rows.shares[a])
        assert page.inner_text(f"#rows-{a} .sizes") == f"{size} · {share} of the weight"
        features = page.locator(f"#rows-{a} .bars li bdi").all_inner_texts()
        distinctive = findings.rows.distinctive(a, 8)
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


def test_one_fewer_merges_what_it_says(opened, women, model, results):
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


def test_levels_are_those_of_the_fit_at_its_beta_alone(opened, women):
    page = opened(women)
    set_level(page, 4, 2)
    page.focus("#beta")
    page.keyboard.press("Home")
    assert page.locator("#rows-level").is_disabled()
    assert "choose β = 0.7" in page.inner_text("#level-note")
    assert page.inner_text("#rows-level-now") == "2"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#rows-level").is_enabled()
    assert page.inner_text("#level-note").startswith("This is the fit")


def test_a_cluster_stays_marked_as_long_as_it_is_there(opened, women):
    page = opened(women)
    set_level(page, 4, 3)
    title = page.inner_text("#rows-1 h3")
    page.click("#rows-1 .show")
    assert page.locator(".card.lit h3").inner_text() == title
    page.click("#columns-more")
    assert page.locator(".card.lit h3").inner_text() == title
    set_level(page, 1, 3)
    assert page.locator(".card.lit").count() == 0


def test_colours_of_cells_are_a_choice(opened, women):
    page = opened(women)
    weight = picture(page)
    assert page.input_value("#colour") == "weight"  # where all entries are equal
    for by, end in (("lift", "×8"), ("share", "%"), ("weight", "1")):
        page.select_option("#colour", by)
        assert (picture(page) == weight) == (by == "weight")
        assert page.inner_text("#high").endswith(end)


def test_a_cluster_has_one_colour_in_all_pictures(opened, women):
    page = opened(women)
    badge = "getComputedStyle(document.querySelector(`{}`)).backgroundColor"
    for side, k in (("rows", 2), ("columns", 3)):
        for cluster in range(k):
            shown = [
                page.evaluate(
                    badge.format(f"{place} .badge[data-side={side}][data-cluster='{cluster}']")
                )
                for place in (f"#{side}-cards", f"#{side}-map-legend")
            ]
            assert len(set(shown)) == 1
    colours = page.locator("#clusters .badge").evaluate_all(
        "all => all.map(e => e.style.background)"
    )
    assert len(set(colours)) == 5  # no row cluster has the colour of a column cluster


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """The report of a fit that chose its numbers of clusters, with rejected and empty rows."""
    matrix, _, _ = planted_blocks()
    data = Data(matrix, [f"row {i}" for i in range(41)], [f"item {i}" for i in range(30)])
    with pytest.warns(UserWarning, match="1 of 41 rows"):
        model = CoClustering("auto", reject=0.9, random_state=0).fit(data.matrix)
    folder = tmp_path_factory.mktemp("chosen") / "out"
    Results.of(model, data).write(folder)
    return folder / "report.html"


def planted_blocks():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(3, size=41), rng.integers(3, size=30)
    matrix = rng.poisson(np.where(rows[:, None] == columns, 6.0, 0.5))
    matrix[7] = 0
    matrix[9] = rng.poisson(2.0, 30)  # belongs nowhere
    return matrix, rows, columns


def test_the_suggested_number_is_marked_with_its_reason(opened, chosen):
    page = opened(chosen)
    model = comarkov.load(chosen.parent)
    mark = page.locator("#rows-suggested")
    assert mark.inner_text() == f"{model.hierarchy_.n_fitted[0]} suggested"
    assert mark.get_attribute("title") == model.selection_reason_
    page.click("#rows-more")
    assert page.inner_text("#rows-level-now") != mark.inner_text().split()[0]
    mark.click()
    assert page.inner_text("#rows-level-now") == mark.inner_text().split()[0]


def test_rejected_elements_are_members_again_at_other_levels(opened, chosen):
    page = opened(chosen)
    model = comarkov.load(chosen.parent)
    k, l = model.hierarchy_.n_fitted
    assert (model.row_labels_ < 0).sum() > 1
    set_level(page, k + 1, l)
    labels = [int(line["cluster"]) for line in downloaded(page, "rows")]
    assert labels == model.cut((k + 1, l)).row_labels_.tolist()
    assert labels.count(-1) == 1


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
    lines = downloaded(page, "columns")
    assert [int(line["cluster"]) for line in lines] == cut.column_labels_.tolist()
