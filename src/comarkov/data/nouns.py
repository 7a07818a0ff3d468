"""What rows and columns are called: nouns and their plurals."""

IRREGULAR = {"person": "people", "woman": "women", "man": "men", "child": "children"}


def plural(noun: str) -> str:
    """The plural of an English noun; only the last of several words changes."""
    stem, space, last = noun.rpartition(" ")
    if last in IRREGULAR:
        return stem + space + IRREGULAR[last]
    if last.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def as_plural(noun: str) -> str:
    """The plural of a noun that may be one already: flights, of flight or flights."""
    is_plural = noun.endswith("s") or noun.rpartition(" ")[2] in IRREGULAR.values()
    return noun if is_plural else plural(noun)
