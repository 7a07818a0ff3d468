"""Co-cluster the Southern Women, print the blocks and draw them."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from comarkov import CoClustering, datasets

OUT = Path("demo") / "southern_women.png"


def describe(model, women):
    """Members of each cluster by name, and how often the blocks meet."""
    kept = model.information_
    print(f"18 women x 14 events, {women.matrix.sum()} attendances")
    print(f"cost {model.cost_:.4f} bits at β = {model.beta}; ", end="")
    print(f"the blocks keep {kept.kept:.0%} of {kept.rows_columns:.3f} bits\n")
    for what, labels, names in (
        ("Women", model.row_labels_, women.row_names),
        ("Events", model.column_labels_, women.column_names),
    ):
        for cluster in range(labels.max() + 1):
            members = [names[i] for i in np.flatnonzero(labels == cluster)]
            print(f"{what} {cluster}: {', '.join(members)}")
    print("\nShare of possible attendances, women clusters x event clusters:")
    for a in range(2):
        rows = women.matrix[model.row_labels_ == a]
        shares = [rows[:, model.column_labels_ == b].mean() for b in range(3)]
        print("   " + "  ".join(f"{share:5.0%}" for share in shares))


def draw(model, women, path):
    """The table as it was recorded, and with rows and columns in the order of their clusters."""
    shuffle = np.random.default_rng(0)
    recorded = shuffle.permutation(18), shuffle.permutation(14)
    sorted_ = (
        np.argsort(model.row_labels_, kind="stable"),
        np.argsort(model.column_labels_, kind="stable"),
    )
    figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    for ax, (rows, columns), title in zip(
        axes, (recorded, sorted_), ("in any order", "co-clustered"), strict=True
    ):
        ax.imshow(women.matrix[np.ix_(rows, columns)], cmap="Blues", vmin=0, vmax=1.2)
        ax.set_xticks(range(14), [women.column_names[i] for i in columns], fontsize=7)
        ax.set_yticks(range(18), [women.row_names[i] for i in rows], fontsize=7)
        ax.tick_params(length=0)
        ax.set_title(title, fontsize=10)
    lines = (model.row_labels_, axes[1].axhline), (model.column_labels_, axes[1].axvline)
    for labels, line in lines:
        for border in np.cumsum(np.bincount(labels))[:-1]:
            line(border - 0.5, color="crimson", linewidth=1.5)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    women = datasets.load("southern-women")
    model = CoClustering((2, 3), n_init=50, random_state=0).fit(women.matrix)
    describe(model, women)
    draw(model, women, OUT)
    print(f"\nThe picture is in {OUT.resolve()}")
