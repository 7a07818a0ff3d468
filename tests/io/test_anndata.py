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
from comarkov import CoClustering, datasets
from comarkov.joint.joint import joint

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


@pytest.mark.parametrize("kept_in", ["raw", "counts", "mine"])
def test_scaled_data_are_refused_with_the_counts_that_can_be_read(kept_in, tmp_path):
    for source in sources(scaled(kept_in), tmp_path):
        assert f'layer="{kept_in}"' in refusal(comarkov.read, source).advice
        assert_array_equal(comarkov.read(source, layer=kept_in).matrix.toarray(), COUNTS)
    assert_refused(run("fit", tmp_path / "cells.h5ad"), f"--layer {kept_in}")


def test_without_counts_or_x(tmp_path):
    cells = scaled()
    cells.layers["centred"] = cells.X.copy()
    for read in (comarkov.read, CoClustering(2).fit):
        assert "before scaling" in refusal(read, cells).advice
    cells.layers["centred"] = COUNTS
    cells.X = None
    for use in (comarkov.read, joint):
        assert "layer='centred'" in refusal(use, cells).advice
    assert_refused(run("info", tmp_path / "none.h5ad"), "none.h5ad")


def test_raw_has_names_of_its_own():
    cells = scaled("raw", slice(0, 9))  # X has fewer variables than .raw
    assert 'comarkov.read(adata, layer="raw")' in refusal(CoClustering(2).fit, cells).advice
    model = CoClustering((2, 3), random_state=0).fit(comarkov.read(cells, layer="raw"))
    assert model.feature_names_in_.tolist() == WOMEN.column_names


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
