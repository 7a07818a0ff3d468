"""Results in sentences: true of the numbers, and with names kept apart."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import models
from hypothesis import given, settings
from sklearn.exceptions import ConvergenceWarning

import comarkov
from comarkov import CoClustering, Data, Results, datasets
from comarkov.joint.messages import listed
from comarkov.results.findings import findings_of
from comarkov.results.pictures import map_of_side
from comarkov.results.words.figures import joined, lift_text, percent_text
from comarkov.results.words.sentences import (
    _typical_of,
    as_html,
    beta_reason,
    caution,
    certainty,
    next_steps,
    plain,
    public_command,
    strongest,
    weight_of,
)

WOMEN = datasets.load("southern-women")
DATA = Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names, "woman", "event")
COMMAND = "comarkov fit 'my women.csv' -k 2 --column-clusters=3 --beta .7 -o women --force"


@pytest.fixture(scope="module")
def results():
    model = CoClustering((2, 3), n_init=5, random_state=0).fit(DATA)
    return replace(Results.of(model, DATA, command=COMMAND), folder="women")


def test_the_strongest_blocks_in_words(results):
    findings = results.findings
    first, second = strongest(findings, weight_of(results))
    strength = findings.blocks * np.log2(np.maximum(findings.lift, 1e-9))
    a, b = np.unravel_index(strength.argmax(), strength.shape)
    assert (first.clusters, first.lift) == ({"row": a, "column": b}, findings.lift[a, b])
    text = plain(first.sentence)
    assert text.startswith("9 women such as Evelyn Jefferson, Laura Mandeville and Brenda Rogers")
    assert f" concentrate on {findings.columns.sizes[b]} events such as E5, E3 and E6: " in text
    times = lift_text(findings.lift[a, b])[1:]
    share = percent_text(findings.blocks[a, b])
    assert text.endswith(f"{times} times as many entries as expected ({share} of all entries).")
    names = re.findall("<bdi>(.*?)</bdi>", as_html(first.sentence))
    assert set(names) == {"Evelyn Jefferson", "Laura Mandeville", "Brenda Rogers", "E5", "E3", "E6"}
    assert "Sylvia Avondale" in plain(second.sentence)


def test_examples_are_typical_of_the_pair_of_clusters():
    """Two row clusters share a column cluster, each by columns of its own."""
    matrix = np.zeros((6, 5))
    matrix[:3, :2], matrix[3:, 2:4], matrix[:, 4] = 9, 9, 1
    names = list("abcdef"), ["left 1", "left 2", "right 1", "right 2", "all"]
    model = CoClustering((2, 1), init=([0, 0, 0, 1, 1, 1], [0] * 5), method="sequential")
    findings = findings_of(model.fit(matrix), names)
    shown = [_typical_of(findings.columns, 0, findings.rows, a)[:2] for a in (0, 1)]
    assert [{findings.columns.names[i] for i in each} for each in shown] == [
        {"left 1", "left 2"},
        {"right 1", "right 2"},
    ]


@settings(max_examples=25)
@given(models())
def test_sentences_of_any_fit(problem):
    W, model = problem
    model.fit(W)
    results = Results.of(model, W)
    findings = results.findings
    found = [each.sentence for each in strongest(findings)]
    assert len(found) <= 5
    for text in map(plain, [*found, *certainty(findings)]):
        assert text == " ".join(text.split())
        assert text.endswith(".")
        assert "e+" not in text
        assert "nan" not in text
    one = max(side.n_clusters for side in findings.sides) == 1
    is_weak = model.information_.kept < 0.05 or not strongest(findings, most=1)
    assert bool(caution(findings)) == (one or is_weak)
    assert len(next_steps(results)) <= 3
    assert repr(results).startswith("Results: ")
    assert results._repr_html_().startswith("<div")


def test_certainty_counts_members(results):
    findings = results.findings
    text = plain(certainty(findings)[0])
    for side in findings.sides:
        assert f"{int((side.confidence >= 0.9).sum())} of {side.labels.size} " in text
    nothing = replace(findings, rows=replace(findings.rows, confidence=None))
    assert "women" not in plain(certainty(nothing)[0])


def test_a_model_of_one_side_concentrates_on_elements():
    findings = findings_of(
        CoClustering((2, None), random_state=0).fit(WOMEN.matrix),
        (WOMEN.row_names, WOMEN.column_names),
        ("woman", "event"),
    )
    by_bits = sorted((0, 1), key=lambda a: -sum(f.bits for f in findings.rows.distinctive(a, 3)))
    for a, found in zip(by_bits, strongest(findings), strict=True):
        text = plain(found.sentence)
        features = findings.rows.distinctive(a, 3)
        lift = sum(f.share for f in features) / sum(f.share / f.lift for f in features)
        assert f"{lift_text(lift)[1:]} times as much weight" in text
        assert all(feature.name in text for feature in features)


@pytest.mark.parametrize(
    ("entry_kind", "matrix", "phrase"),
    [
        ("flights", 3 * WOMEN.matrix, "many flights"),
        ("people", 3 * WOMEN.matrix, "many people"),
        ("Air_Time", 3 * WOMEN.matrix, "much air time"),
        ("weight", 3 * WOMEN.matrix, "much weight"),
        ("g", 3 * WOMEN.matrix, "much weight"),
        ("", WOMEN.matrix, "many entries"),
        ("", 3 * WOMEN.matrix, "much weight"),
    ],
)
def test_what_the_weights_are(entry_kind, matrix, phrase):
    data = Data(matrix, WOMEN.row_names, WOMEN.column_names, entry_kind=entry_kind)
    results = Results.of(CoClustering((2, 3), random_state=0).fit(data), data)
    assert " ".join(weight_of(results)) == phrase
    assert f"times as {phrase} as expected" in results.describe()


def test_elements_without_names_are_counted():
    matrix = np.kron(np.eye(2), np.ones((20, 20))) + 0.1
    results = Results.of(CoClustering(2, random_state=0).fit(matrix), Data(matrix))
    text = results.describe()
    assert "- The 20 rows of cluster 1 (50.0%) concentrate on the 20 columns of cluster 1" in text
    assert "typical" not in text


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    lean = rng.integers(0, 2, 200)
    sides = np.array(["slightly liberal", "conservative"])
    noisy = np.where(rng.random((3, 200)) < 0.9, lean, 1 - lean)
    names = ["what the voter calls Clinton", "what the voter calls Dole", "self"]
    frame = pd.DataFrame(dict(zip(names, sides[noisy], strict=True)))
    frame["goals"] = rng.poisson(1.5, 200) + 3 * lean
    data = comarkov.records(frame)
    return Results.of(CoClustering(2, random_state=0).fit(data), data)


@pytest.mark.parametrize("numbers", [(2, 2), (2, None)])
def test_findings_about_records_name_categories_with_their_shares(records, numbers):
    data = records.data
    results = Results.of(CoClustering(numbers, random_state=0).fit(data), data)
    first = plain(strongest(results.findings)[0].sentence)
    size = results.findings.rows.sizes[strongest(results.findings)[0].clusters["row"]]
    assert first.startswith(f"The {size} records of cluster ")
    assert f" ({size / 2:.1f}%) concentrate on " in first
    assert re.search(r"self = [\w ]+ \([\d.]+%( of these)? against [\d.]+%", first)
    values = {name.partition(" = ")[2] for name in data.column_names if " = " in name}
    text = results.describe()
    assert all(f"… = {each}" in text for each in values & {"slightly liberal", "conservative"})


def test_clusters_of_categories_have_titles_of_categories(records):
    words = " · ".join(records.findings.columns.titles).split(" · ")
    assert set(words) <= set(records.data.column_names.tolist())


def test_names_with_commas_are_separated_by_semicolons():
    assert joined(["Buth, Jo", "Day, Al", "Fox"]) == "Buth, Jo; Day, Al; and Fox"
    assert listed(["Buth, Jo", "Day, Al"]) == "Buth, Jo; Day, Al"


def test_the_headings_of_a_data_frame_are_kinds():
    frame = pd.DataFrame(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names)
    model = CoClustering((2, 3), random_state=0).fit(frame)
    for rows, columns, kinds in (
        ("Woman", "event_id", "women events"),
        ("id", "col_0", "rows columns"),
    ):
        sides = Results.of(model, frame.rename_axis(index=rows, columns=columns)).findings.sides
        assert " ".join(side.kinds for side in sides) == kinds


def test_no_plural_is_invented():
    names = list("abcdefghijklmnopqr"), None
    data = Data(WOMEN.matrix, *names, "stadt", "home team")
    results = Results.of(CoClustering((2, 3), random_state=0).fit(data), data)
    assert results.headline.startswith("18 rows in 2 clusters and 14 home teams in 3 clusters")
    assert "stadts" not in results.describe() + repr(data)


def test_a_fit_that_was_stopped_before_the_search_says_so():
    with pytest.warns(ConvergenceWarning):
        model = CoClustering(max_time=1e-9, random_state=0).fit(DATA)
    results = Results.of(model, DATA)
    assert results.describe().startswith("Nothing was searched.")
    assert "No clusters were found" not in results.to_html()


def test_where_beta_comes_from(results):
    assert beta_reason(results) == "β = 0.7 was set before the fit."
    fields = [("beta", float), ("agreement", float), ("chosen", bool)]
    table = np.array([(0.4, 0.5, False), (0.7, 0.48, True)], fields)
    chosen = replace(results, beta_selection=table)
    reasons = {beta_reason(chosen)}
    assert "(0.50)" in beta_reason(chosen)
    for agreement in ([0.2, 0.48], 0.5, np.nan):
        table["agreement"] = agreement
        reasons.add(beta_reason(chosen))
    assert len(reasons) == 4
    assert all(reason.startswith("β = 0.7") for reason in reasons)


def test_no_report_shows_absolute_paths(results):
    command = "comarkov fit /home/ann/a.csv --rows=/home/ann/b.csv -o /srv/out -k 2"
    assert public_command(command) == "comarkov fit a.csv --rows=b.csv -o out -k 2"
    data = DATA.changed(source="/home/ann/a.csv")
    shared = replace(Results.of(results.fitted, data, command=command), folder="/home/ann/out")
    assert "/home/ann" not in shared.to_html()
    assert "/home/ann" not in replace(shared, command="").to_html()


def test_nothing_found_is_said_first_and_what_to_do_about_it():
    model = CoClustering(1, random_state=0).fit(DATA)
    results = replace(Results.of(model, DATA, command=COMMAND), folder="women")
    first = "No clusters were found: all women and all events are in one cluster each."
    assert results.describe().splitlines()[0] == first
    assert next_steps(results)[0].command == "comarkov fit women -k 4 -l 4 -o women-again"
    assert first in results.to_html().replace('<bdi class="kind">', "").replace("</bdi>", "")


def test_reasons_name_what_rows_and_columns_are():
    reason = Results.of(CoClustering("auto", random_state=0).fit(DATA), DATA).selection_reason
    assert "woman cluster" in reason
    assert not re.search("row|column", reason)


def test_without_information_nothing_is_kept_and_no_map_is_drawn():
    matrix = np.full((10, 8), 7)
    results = Results.of(CoClustering(random_state=0).fit(matrix), Data(matrix))
    assert "8 columns in 1 cluster: there is no information to keep (0 bits)." in results.describe()
    assert not map_of_side(results.findings, results.matrix, results.findings.rows).shares.any()


@pytest.mark.parametrize("command", [COMMAND, ""])
def test_next_steps_follow_from_the_results(results, command):
    words = Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names, "text", "word")
    texts = Results.of(CoClustering((2, None), random_state=0).fit(words), words, command=command)
    commands = [step.command for step in next_steps(replace(texts, folder="/home/ann/my out"))]
    bm25, cut, compare = commands
    if command:
        assert bm25 == "comarkov fit 'my out' --weighting bm25 -o 'my out'-again"
        assert cut == "comarkov cut 'my out' -k 4 -l none"
        assert compare == "comarkov choose 'my out' -o 'my out'-chosen"
    else:
        assert (bm25, cut) == (
            "model.set_params(weighting='bm25').fit(data)",
            "model.cut((4, None))",
        )
