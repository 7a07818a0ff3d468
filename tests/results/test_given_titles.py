"""Titles that people give to clusters, in Python, in files, and again from the folder."""

import csv
import json
import re

import pytest
from commands import run

from comarkov import CoClustering, Data, Results, datasets
from comarkov.cli.results_folder import read_results

WOMEN = datasets.load("southern-women")
DATA = Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names, "woman", "event")
GIVEN = {"n_clusters": [2, 3], "rows": {"0": "insiders"}, "columns": {"2": " late\nevents "}}


@pytest.fixture(scope="module")
def model():
    return CoClustering((2, 3), n_init=5, random_state=0).fit(DATA)


@pytest.mark.parametrize(
    "titles",
    [
        GIVEN,
        {"rows": ["insiders", ""], "columns": {2: "late events"}},
        {"rows": {0: "insiders"}, "columns": ["", "", "late events"]},
    ],
)
def test_given_titles_stand_everywhere(model, titles):
    results = Results.of(model, DATA, titles=titles)
    computed = Results.of(model, DATA).findings
    assert results.findings.rows.titles == ["insiders", computed.rows.titles[1]]
    assert results.findings.columns.titles[2] == "late events"
    assert "“insiders”" in results.describe()
    for line in csv.DictReader(results.tables()["blocks.csv"].splitlines()):
        assert line["row_title"] == results.findings.rows.titles[int(line["row_cluster"])]
        assert line["column_title"] == results.findings.columns.titles[int(line["column_cluster"])]


@pytest.mark.parametrize(
    ("titles", "message"),
    [
        (
            {"n_clusters": [4, 3], "rows": {}},
            r"for 4 x 3 clusters, .* are 2 x 3.*model\.cut\(\(4, 3\)",
        ),
        ({"rows": {"2": "x"}}, "no row cluster 2, which .* name 'x': there are 2, from 0 to 1"),
        ({"rows": {"-1": "x"}}, "no row cluster -1"),
        ({"columns": ["a", "b", "c", "d"]}, "no column cluster 3"),
        ({"rows": {"0": 7}}, "row cluster 0 must be text, not 7"),
        ({"rows": "abc"}, "titles of rows must be a list or a mapping"),
        ({"row": {}}, "has the unknown key 'row'. Did you mean 'rows'?"),
        ({"n_clusters": 3}, "n_clusters must be two numbers"),
    ],
)
def test_what_is_wrong_with_titles(model, titles, message):
    with pytest.raises(ValueError, match=message):
        Results.of(model, DATA, titles=titles)


def test_titles_from_a_file_stay_in_the_folder(model, tmp_path):
    out, file = tmp_path / "out", tmp_path / "mine.json"
    Results.of(model, DATA).write(out)
    before = {path.name for path in out.iterdir()}
    file.write_text(json.dumps(GIVEN), encoding="utf-8")
    run("report", str(out), "--titles", str(file))
    assert {path.name for path in out.iterdir()} - before == {"titles.json"}
    for name in ("rows.csv", "columns.csv", "blocks.csv", "clusters.md", "summary.json"):
        assert "insiders" in (out / name).read_text() or name == "columns.csv", name
    assert "late events" in (out / "columns.csv").read_text()
    page = (out / "report.html").read_text()
    run("report", str(out))  # finds the titles again
    assert (out / "report.html").read_text() == page
    assert read_results(out).findings.rows.titles[0] == "insiders"
    file.write_text(json.dumps(GIVEN | {"n_clusters": [4, 5]}), encoding="utf-8")
    error = run("report", str(out), "--titles", str(file)).stderr
    assert re.search("for 4 x 5 clusters, but there are 2 x 3", error)
    assert f"comarkov cut {out} -k 4 -l 5" in error
    error = run("report", str(out), "--titles", "nowhere.json").stderr
    assert error.startswith("Error: There is no file 'nowhere.json'.")
    file.write_text("rows: insiders", encoding="utf-8")
    assert "mine.json is not JSON" in run("report", str(out), "--titles", str(file)).stderr
