"""The references of the site are complete: every public name and every command, with examples."""

import doctest
import inspect
import re
import sys
from pathlib import Path

import api_pages
import command_pages
import pytest
from generated import write_pages

import comarkov

ROOT = Path(__file__).parent.parent.parent


def test_the_reference_lists_every_public_name():
    listed = [name for names in api_pages.GROUPS.values() for name in names]
    assert sorted(listed) == sorted(api_pages.public_names())
    assert set(api_pages.MODULES["datasets"]) == set(comarkov.datasets.__all__) - {"CATALOGUE"}
    module = sys.modules[comarkov.evaluate.purity.__module__]
    own = {
        name
        for name, value in inspect.getmembers(module, inspect.isfunction)
        if value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert set(api_pages.MODULES["evaluate"]) == own - {"agreement"}  # which only the search uses


@pytest.mark.parametrize("name", api_pages.public_names())
def test_every_public_name_has_an_example_that_runs(name):
    text = inspect.getdoc(api_pages.resolve(name))
    examples = doctest.DocTestParser().get_examples(text)
    assert [one for one in examples if doctest.SKIP not in one.options]


def test_pages_of_classes_have_their_methods():
    pages = api_pages.pages()
    assert set(pages) == {f"{name}.rst" for name in api_pages.public_names()} | {"index.rst"}
    for method in ("fit", "predict", "beta_path", "cut", "estimate", "save"):
        assert f".. automethod:: comarkov.CoClustering.{method}\n" in pages["CoClustering.rst"]
    assert "autoproperty:: comarkov.Hierarchy.merges" in pages["Hierarchy.rst"]
    assert "autoattribute:: comarkov.Step.cost" in pages["Step.rst"]


def test_every_command_has_a_page_with_all_its_options():
    pages = command_pages.pages()
    assert {"fit", "choose", "datasets list"} <= set(command_pages.commands())
    for name, command in command_pages.commands().items():
        page = pages[f"{name.replace(' ', '_')}.md"]
        assert re.search(rf"## Examples\n\n```sh\ncomarkov {name}\b", page)
        for parameter in command.params:
            flags = parameter.opts if parameter.param_type_name == "option" else []
            assert all(f"`{flag}" in page for flag in flags)
            assert " ".join(parameter.help.split()) in page
    assert "`--seed N`\n: Random seed; results are reproducible. Default: `0`." in pages["fit.md"]


def test_generated_folders_hold_exactly_the_pages(tmp_path):
    write_pages(tmp_path, {"a.md": "A", "b.md": "B"})
    first = (tmp_path / "a.md").stat().st_mtime_ns
    write_pages(tmp_path, {"a.md": "A"})
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
    assert (tmp_path / "a.md").stat().st_mtime_ns == first


def test_the_map_of_the_house_is_that_of_the_files(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "dev")
    import house_map

    assert house_map.PAGE.read_text() == house_map.page(), "Run: python dev/house_map.py"
    table = (
        house_map.PAGE.read_text().partition("## Where do I change")[2].partition("## The rooms")[0]
    )
    paths = re.findall(rf"`((?:{'|'.join(house_map.ROOMS)})[\w/.]*)`", table)
    assert [path for path in paths if not (house_map.PACKAGE / path).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_outside_of_the_site_lead_to_files(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []
