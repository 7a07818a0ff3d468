"""AnnData whose X is scaled: the counts are elsewhere, with names of their own."""

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from commands import assert_refused, run
from helpers import refusal
from numpy.testing import assert_array_equal
from refusals import noted

import comarkov
from comarkov import CoClustering, Results, datasets

WOMEN = datasets.load("southern-women")
COUNTS = WOMEN.matrix.astype(np.float32)


def scaled(kept_in=None, columns=slice(None)):
    """Centred data, as scanpy's ``scale`` leaves them, and the counts where they are kept."""
    cells = anndata.AnnData(
        sp.csr_matrix(COUNTS),
        pd.DataFrame(index=WOMEN.row_names),
        pd.DataFrame(index=WOMEN.column_names),
    )
    if kept_in == "raw":
        cells.raw = cells
    elif kept_in is not None:
        cells.layers[kept_in] = cells.X.copy()
    cells.X = COUNTS - COUNTS.mean(axis=0)
    return cells[:, columns].copy()


def sources(cells, folder):
    """The object and a file of it."""
    cells.write_h5ad(folder / "cells.h5ad")
    return cells, folder / "cells.h5ad"


@pytest.mark.parametrize("kept_in", ["raw", "counts", "raw_counts", "mine"])
def test_counts_are_used_where_x_is_scaled(kept_in, tmp_path):
    for source in sources(scaled(kept_in), tmp_path):
        with noted(f'layer="{kept_in}"') as caught:
            data = comarkov.read(source)
        (note,) = (one for one in caught if one.category is UserWarning)  # others are anndata's
        assert note.filename == __file__
        assert_array_equal(data.matrix.toarray(), COUNTS)
        assert_array_equal(comarkov.read(source, layer=kept_in).matrix.toarray(), COUNTS)


def test_whole_numbers_are_counts_before_other_layers():
    cells = scaled("mine")
    cells.layers["counts"] = np.log1p(COUNTS) / 2
    with noted("mine"):
        comarkov.read(cells)
    del cells.layers["mine"]
    with noted("counts"):
        comarkov.read(cells)


def test_x_without_negative_values_stays():
    cells = scaled("counts")
    cells.X = COUNTS * 0.5
    assert_array_equal(comarkov.read(cells).matrix.toarray(), COUNTS * 0.5)
    assert_array_equal(comarkov.read(cells, layer="X").matrix.toarray(), COUNTS * 0.5)


def test_a_missing_x_is_no_obstacle():
    cells = scaled("counts")
    cells.X = None
    with noted("counts"):
        assert_array_equal(comarkov.read(cells).matrix.toarray(), COUNTS)


def test_estimators_do_the_same_with_one_warning():
    cells = scaled("raw", slice(0, 9))  # X has fewer variables than .raw
    with noted(".raw") as caught:
        model = CoClustering((2, 3), random_state=0).fit(cells)
    assert [str(one.message).count("comarkov.read(adata") for one in caught] == [1]
    assert caught[0].filename == __file__
    assert model.feature_names_in_.tolist() == WOMEN.column_names
    expected = CoClustering((2, 3), random_state=0).fit(comarkov.read(cells, layer="raw"))
    assert_array_equal(model.row_labels_, expected.row_labels_)
    with noted(".raw") as caught:
        results = Results.of(model, cells)
    assert len(caught) == 1
    assert results.data.column_names.tolist() == WOMEN.column_names


def test_without_counts_the_error_shows_how_to_keep_them(tmp_path):
    cells = scaled()
    cells.layers["centred"] = cells.X.copy()
    for read in (comarkov.read, CoClustering(2).fit):
        error = refusal(read, cells)
        assert "negative" in error.args[0]
        assert "X, layers['centred']" in error.advice
        assert 'adata.layers["counts"] = adata.X.copy()' in error.advice
        assert ".raw" not in error.advice
    cells = scaled("raw")
    assert 'comarkov.read(adata, layer="raw")' in refusal(comarkov.read, cells, layer="X").advice
    _, path = sources(cells, tmp_path)
    assert_refused(run("fit", path, "--layer", "X", "-o", tmp_path / "o"), "Read .raw: --layer raw")
    assert_refused(run("info", tmp_path / "none.h5ad"), "none.h5ad")


def test_missing_values_are_not_called_scaled():
    cells = scaled()
    cells.X = np.where(cells.X < 0, np.nan, cells.X)
    error = refusal(comarkov.read, cells)
    assert "Write 0" in error.advice
    assert "scal" not in str(error)
    assert "'counts'" in refusal(comarkov.read, scaled("counts"), layer="count").advice


def test_clusters_of_raw_are_written_to_raw(tmp_path):
    cells = scaled("raw", slice(0, 9))
    model = CoClustering((2, 3), random_state=0).fit(comarkov.read(cells, layer="raw"))
    with noted(".raw.var['comarkov']"):
        comarkov.write_h5ad(cells, tmp_path / "out.h5ad", model)
    again = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert again.obs["comarkov"].astype(int).tolist() == model.row_labels_.tolist()
    assert again.raw.var["comarkov"].astype(int).tolist() == model.column_labels_.tolist()
    assert "comarkov" not in again.var
    whole = scaled("raw")  # with the same variables as X
    assert "comarkov" in comarkov.write_h5ad(whole, None, model).var
