"""Blood cells and their genes

700 blood cells; known cell types are a strip of colours beside the matrix.
"""

import scanpy as sc

import comarkov

cells = sc.datasets.pbmc68k_reduced()
data = comarkov.read(cells, layer="raw", row_classes="bulk_labels")
data = data.changed(row_kind="cell", column_kind="gene", source="Blood cells")
model = comarkov.CoClustering((8, 12), weighting="bm25", random_state=0).fit(data)
results = comarkov.Results.of(model, data)
