"""Which numbers of clusters "auto" chooses on tables of six families, beside targets and peers.

Arguments name families: planted, texts, everyday, genes, digits, noise. Tables marked * are new:
nothing was designed on them.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
from common import Report, run
from sknetwork.clustering import Leiden, Louvain
from tables import Table, all_tables

from comarkov import CoClustering
from comarkov.joint.inputs import as_csr

FACTOR = 1.5
FEWEST, MOST, LEAST_KEPT = 2, 12, 0.25
LONGEST = 4.0  # choosing, in fits with the numbers given
CUT = 0.05  # seconds of a fit, below which the ratio says nothing


def main(report: Report, families: list[str]) -> None:
    rows = []
    for table in all_tables():
        if not families or table.family.split()[0] in families:
            rows.append((table, *judged(report, table)))
    known = [row for row in rows if row[0].truth not in (None, (1, 1))]
    summary(report, "Known numbers, within a factor 1.5", known, 0.85)
    for name, peer in (("Louvain", 3), ("Leiden", 4)):
        if known:
            report.fact(
                f"{name}, rows within a factor 1.5", f"{np.mean([r[peer] for r in known]):.2f}"
            )
    summary(report, "Noise, 1 x 1", [row for row in rows if row[0].family == "noise"], 0.95)
    daily = [row for row in rows if row[0].family == "everyday"]
    summary(report, "Everyday, 2 to 12 clusters, a quarter kept", daily, 1.0)
    ratios = [row[2] for row in rows if not np.isnan(row[2])]
    if ratios:
        report.title("Time to choose, in fits with the numbers given")
        report.figure("median", float(np.median(ratios)), "<=", LONGEST)
        report.figure("largest", float(np.max(ratios)), "<=", LONGEST)


def summary(report: Report, title: str, rows: list, target: float) -> None:
    """Shares of success: all tables, those that are new, and each family."""
    if not rows:
        return
    report.title(f"{title} ({len(rows)} tables)")
    report.figure("share", float(np.mean([row[1] for row in rows])), ">=", target, "")
    new = [row[1] for row in rows if row[0].is_new]
    if new:
        report.fact(f"share of the {len(new)} new tables", f"{np.mean(new):.2f}")
    for family in dict.fromkeys(row[0].family for row in rows):
        hits = [row[1] for row in rows if row[0].family == family]
        report.fact(f"{family}", f"{sum(hits)} of {len(hits)}")


def judged(report: Report, table: Table) -> tuple[bool, float, bool, bool]:
    """Is it right; how long choosing takes in fits; are Louvain and Leiden right on the rows?"""
    X = table.make()
    settings = {"weighting": table.weighting, "random_state": 0}
    chosen, seconds = timed(CoClustering("auto", **settings), X)
    numbers = chosen.row_labels_.max() + 1, chosen.column_labels_.max() + 1
    _, fit = timed(CoClustering(tuple(map(int, numbers)), **settings), X)
    kept = chosen.information_.kept
    is_right = right(table, numbers, kept)
    line = chosen.selection_[chosen.selection_["suggested"]][0]
    rules = " and ".join(dict.fromkeys((str(line["row_rule"]), str(line["column_rule"]))))
    mark = ("*" if table.is_new else " ") + (" " if is_right else "!")
    ratio = (seconds - fit) / fit if fit > CUT and max(numbers) > 1 else np.nan
    result = f"{numbers[0]} x {numbers[1]}, {kept:.0%} kept, by {rules}, in {ratio:.1f} fits"
    known = "" if table.truth is None else "({} x {})".format(*(k or "?" for k in table.truth))
    report.fact(f"{mark} {table.family}: {table.name} {known}", result)
    return is_right, ratio, *(peer_is_right(table, X, peer) for peer in (Louvain, Leiden))


def right(table: Table, numbers, kept: float) -> bool:
    if table.truth is None:
        return all(FEWEST <= k <= MOST for k in numbers) and kept >= LEAST_KEPT
    return all(near(k, truth) for k, truth in zip(numbers, table.truth, strict=True))


def near(k: int, truth: int | None) -> bool:
    factor = 1.0 if truth == 1 else FACTOR
    return truth is None or max(k / truth, truth / k) <= factor


def peer_is_right(table: Table, X, peer) -> bool:
    """On the rows, which is all that most tables have an answer for."""
    if table.truth is None or table.family == "noise":
        return False
    labels = peer(random_state=0).fit(sp.csr_matrix(as_csr(X))).labels_row_
    return near(len(np.unique(labels)), table.truth[0])


def timed(model, X):
    start = time.process_time()
    model.fit(X)
    return model, time.process_time() - start


if __name__ == "__main__":
    run(main, sys.argv[1:])
