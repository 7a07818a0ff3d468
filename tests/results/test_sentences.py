"""Results in sentences: true of the numbers, and with names kept apart."""

import re
from dataclasses import replace

import numpy as np
import pytest
from helpers import models
from hypothesis import given, settings

from comarkov import CoClustering, Data, Results, datasets
from comarkov.results.findings import findings_of
from comarkov.results.pictures import map_of_side
from comarkov.results.words.figures import lift_text, percent_text
from comarkov.results.words.next_steps import next_steps, public_command
from comarkov.results.words.sentences import (
    _typical_of,
    beta_reason,
    certainty,
    opening_of,
    overview,
    plain,
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
    assert plain(overview(findings)) == "18 women in 2 clusters and 14 events in 3 clusters."
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
    names = {part.text for part in first.sentence if part.is_name and not part.is_kind}
    assert names == {"Evelyn Jefferson", "Laura Mandeville", "Brenda Rogers", "E5", "E3", "E6"}
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
    opening = opening_of(results)
    assert len(opening.strongest) <= 5
    found = (each.sentence for each in opening.strongest)
    for each in (opening.overview, *found, *opening.certainty):
        text = plain(each)
        assert text == " ".join(text.split())
        assert text.endswith(".")
        assert "e+" not in text
        assert "nan" not in text
    one = max(side.n_clusters for side in (results.findings.rows, results.findings.columns)) == 1
    assert (opening.caution is not None) == (one or model.information_.kept < 0.05)
    assert len(next_steps(results)) <= 3
    assert repr(results).startswith("Results: ")
    assert results._repr_html_().startswith("<div")


def test_certainty_counts_members(results):
    findings = results.findings
    (text,) = (plain(each) for each in certainty(findings) if "confidence" in plain(each))
    for side in (findings.rows, findings.columns):
        sure = int((side.confidence >= 0.9).sum())
        assert f"{sure} of {side.labels.size} " in text
    nothing = replace(findings, rows=replace(findings.rows, confidence=None, stability=None))
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
    assert plain(overview(findings)) == "18 women in 2 clusters; the 14 events were not clustered."


@pytest.mark.parametrize(
    ("entry_kind", "matrix", "phrase"),
    [
        ("flights", 3 * WOMEN.matrix, "many flights"),
        ("people", 3 * WOMEN.matrix, "many people"),
        ("air_time", 3 * WOMEN.matrix, "much air time"),
        ("weight", 3 * WOMEN.matrix, "much weight"),
        ("", WOMEN.matrix, "many entries"),
        ("", 3 * WOMEN.matrix, "much weight"),
    ],
)
def test_what_the_weights_are(entry_kind, matrix, phrase):
    data = Data(matrix, WOMEN.row_names, WOMEN.column_names, entry_kind=entry_kind)
    results = Results.of(CoClustering((2, 3), random_state=0).fit(data), data)
    assert " ".join(weight_of(results)) == phrase
    assert f"times as {phrase} as expected" in results.describe()


def test_elements_without_names_are_counted_with_examples():
    matrix = np.kron(np.eye(2), np.ones((20, 20))) + 0.1
    results = Results.of(CoClustering(2, random_state=0).fit(matrix), Data(matrix))
    text = results.describe()
    assert re.search(r"- 20 rows \(\d+, \d+, …\) concentrate on 20 columns \(\d+, \d+, …\)", text)
    assert "“cluster" not in plain(opening_of(results).strongest[0].sentence)


def test_where_beta_comes_from(results):
    assert beta_reason(results) == "β = 0.7 was set before the fit."
    fields = [("beta", float), ("agreement", float), ("chosen", bool)]
    table = np.array([(0.4, 0.5, False), (0.7, 0.48, True)], fields)
    chosen = replace(results, beta_selection=table)
    assert beta_reason(chosen).startswith("β = 0.7, the default, was kept: ")
    assert "nearly as well as anywhere (0.50)" in beta_reason(chosen)
    table["agreement"] = [0.2, 0.48]
    assert "agree best there (0.48 of 1)" in beta_reason(chosen)
    table["agreement"] = 0.5
    assert beta_reason(chosen).endswith("agree there (0.50 of 1) as well as anywhere.")
    table["agreement"] = np.nan
    assert "no time to compare" in beta_reason(chosen)


def test_next_steps_are_commands_that_follow_from_the_results(results):
    steps = {plain(step.why): step.command for step in next_steps(results)}
    finer = next(command for why, command in steps.items() if "more detail" in why)
    assert finer.startswith("comarkov cut women -k ")
    compare = next(command for why, command in steps.items() if "Compare" in why)
    assert compare == "comarkov choose women -o women-chosen"
    in_python = replace(results, command="")
    calls = [step.command for step in next_steps(in_python)]
    assert calls[0].startswith("model.cut((")
    numbers = eval(calls[0].removeprefix("model.cut(")[:-1])
    cut = results.fitted.cut(numbers)
    assert cut.information_.kept >= results.findings.information.kept + 0.1


def test_a_refit_keeps_what_was_set():
    words = Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names, "text", "word")
    model = CoClustering((2, None), beta=1.0, random_state=0).fit(words)
    results = Results.of(model, words, command=COMMAND)
    step = next_steps(replace(results, folder="/home/ann/my out"))[0]
    options = "-k 2 -l none --beta 1 --weighting bm25"
    assert step.command == f"comarkov fit 'my out' {options} -o 'my out-again'"
    call = next_steps(replace(results, command=""))[0].command
    assert call == "model.set_params(weighting='bm25').fit(data)"


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
    model = CoClustering("auto", random_state=0).fit(DATA)
    reason = Results.of(model, DATA).selection_reason
    assert "woman cluster" in reason
    assert "row" not in reason
    assert "column" not in reason


def test_without_information_nothing_is_kept_and_no_map_is_drawn():
    matrix = np.full((10, 8), 7)
    results = Results.of(CoClustering(random_state=0).fit(matrix), Data(matrix))
    assert "8 columns in 1 cluster: there is no information to keep (0 bits)." in results.describe()
    assert map_of_side(results, results.findings.rows).is_flat


def test_finer_clusters_are_not_suggested_where_blocks_explain_the_data():
    data = datasets.planted((24, 15), (3, 3), random_state=0)
    model = CoClustering(random_state=0).fit(data.matrix)
    chosen = model.selection_["suggested"]
    assert model.selection_["row_rule"][chosen] == "description length"
    results = Results.of(model, data)
    assert not any("more detail" in plain(step.why) for step in next_steps(results))
    given = replace(results, selection=None)
    for step in next_steps(given):
        if "more detail" in plain(step.why):
            rows, columns = eval(step.command.removeprefix("model.cut(")[:-1])
            assert rows <= 12
            assert columns <= 7
