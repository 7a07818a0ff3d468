"""Peak memory of a fit above its input, on 20 Newsgroups (Linux)."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import Report, newsgroups

CHILD = """
import sys, gc
import scipy.sparse as sp
from comarkov import CoClustering

def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))

X = sp.load_npz(sys.argv[1])
n_clusters = eval(sys.argv[2])
warm = CoClustering((2, n_clusters[1] and 2), method="anneal", random_state=0, max_iter=1)
warm.fit(X[:200])  # kernels
gc.collect()
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
CoClustering(n_clusters, method="anneal", random_state=0, max_iter=3).fit(X)
print(status("VmHWM") - before)
"""


def peak(X, n_clusters) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npz"
        sp.save_npz(path, X, compressed=False)
        command = [sys.executable, "-c", CHILD, str(path), repr(n_clusters)]
        # Large blocks go back to the system when freed, so that the peak is of memory in use.
        env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "100000"}
        child = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        return int(child.stdout)


def main(report: Report) -> None:
    report.title("Peak memory above the input / (2 x CSR + 12 bytes a table cell)")
    counts = newsgroups()
    weights = counts.astype(np.float64)
    weights.data = np.log1p(weights.data)
    for name, X in (("counts", counts), ("log weights", weights)):
        csr = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        report.fact(f"{name}: CSR of the input", f"{csr / 1e6:.1f} MB")
        for k, l in ((20, None), (20, 20), (100, 100)):
            allowed = 2 * csr + 12 * (X.shape[1] * k + X.shape[0] * (l or 0))
            used = peak(X, (k, l))
            what = f"{name}: n_clusters=({k}, {l}): {used / 1e6:.0f} of {allowed / 1e6:.0f} MB"
            report.figure(what, used / allowed, "<=", 1)


if __name__ == "__main__":
    main(Report())
