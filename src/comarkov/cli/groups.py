"""Groups of options that several commands take, each written once as a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

KEYWORD = inspect.Parameter.KEYWORD_ONLY


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let typer see the fields of the dataclasses that a command takes as options of their own."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        p.name: p.annotation for p in parameters if is_dataclass(p.annotation)
    }

    @wraps(command)
    def from_options(**options: Any) -> None:
        made = {
            name: group(**{field.name: options.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**options, **made)

    options = [
        option
        for p in parameters
        for option in (_options(p.annotation) if p.name in groups else [p.replace(kind=KEYWORD)])
    ]
    from_options.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    from_options.__annotations__ = {option.name: option.annotation for option in options}
    return from_options


def _options(group: Any) -> list[inspect.Parameter]:
    types = get_type_hints(group, include_extras=True)
    empty = inspect.Parameter.empty
    return [
        inspect.Parameter(
            field.name, KEYWORD, annotation=types[field.name],
            default=empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    ]  # fmt: skip
