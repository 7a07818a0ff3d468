"""The public interface, written down: names, parameters with defaults, and fitted attributes.

What the stability policy covers is in ``public_interface.txt``. If a change is intended, write the
file again with ``python tests/test_public_interface.py`` and mention the change in the changelog.
"""

import inspect
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

import comarkov
from comarkov.estimators.prediction import CoClusterEstimator

GOLD = Path(__file__).with_name("public_interface.txt")
COUNTS = np.random.default_rng(0).poisson(np.kron(np.eye(2) * 4 + 0.5, np.ones((6, 6))))
INPUTS = {"MultiwayClustering": {("a", "b"): COUNTS}}
PARAMETERS = {
    "CoClustering": {"n_clusters": "auto", "beta": "auto"},
    "MarkovAggregation": {"n_clusters": 2, "held_out": 0.2},
    "Weighting": {},
}


def call(function):
    """The parameters with their defaults, without types."""
    parameters = inspect.signature(function).parameters.values()
    plain = [p.replace(annotation=p.empty) for p in parameters if p.name not in ("self", "cls")]
    return str(inspect.Signature(plain))


def members(kind):
    """The public methods and properties that this package defines."""
    for name in sorted(dir(kind)):
        home = next((base for base in kind.__mro__ if name in vars(base)), object)
        if name.startswith(("_", "set_")) or not home.__module__.startswith("comarkov."):
            continue
        value = inspect.getattr_static(kind, name)
        if isinstance(value, property) or hasattr(value, "func"):
            yield f"  .{name}"
        elif callable(getattr(kind, name)):
            yield f"  .{name}{call(getattr(kind, name))}"
    fields = getattr(kind, "_fields", ()) or getattr(kind, "__dataclass_fields__", ())
    if fields and not issubclass(kind, BaseEstimator):
        yield "  fields: " + ", ".join(name for name in fields if not name.startswith("_"))


def attributes(kind):
    """What a fit sets."""
    model = kind(**PARAMETERS.get(kind.__name__, {"n_clusters": 2}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(INPUTS.get(kind.__name__, COUNTS))
    return sorted(name for name in vars(model) if name.endswith("_") and name[0] != "_")


def interface():
    lines = []
    for name in sorted(comarkov.__all__):
        value = getattr(comarkov, name)
        if inspect.ismodule(value):
            own = [one for one in vars(value).values() if inspect.isfunction(one)]
            public = [
                f for f in own if f.__module__.startswith(value.__name__) and f.__name__[0] != "_"
            ]
            lines += [name, *sorted(f"  .{f.__name__}{call(f)}" for f in public)]
        elif inspect.isclass(value):
            lines.append(name + call(value))
            if not issubclass(value, CoClusterEstimator) or value is comarkov.CoClustering:
                lines += members(value)  # the named methods have those of CoClustering
            if issubclass(value, BaseEstimator):
                lines.append("  fitted: " + ", ".join(attributes(value)))
        elif callable(value):
            lines.append(name + call(value))
    return "\n".join(lines) + "\n"


def test_the_public_interface_is_what_is_written_down():
    assert interface() == GOLD.read_text(encoding="utf-8")


def test_the_first_parameters_are_the_ones_that_everybody_sets():
    for kind in (comarkov.CoClustering, comarkov.MarkovAggregation, comarkov.MultiwayClustering):
        parameters = inspect.signature(kind).parameters.values()
        positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert positional == ["n_clusters", "beta"]


if __name__ == "__main__":
    GOLD.write_text(interface(), encoding="utf-8")
