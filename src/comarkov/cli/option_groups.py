"""Groups of options shared by several commands, each written once as a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

KEYWORD = inspect.Parameter.KEYWORD_ONLY
OPTION = "option"  # the key of the option in the metadata of a field
# Options whose parameters have other names in Python.
FROM_PYTHON = {
    "--max-time": "--time-limit",
    "--n-init": "--starts",
    "--n-jobs": "--jobs",
    "--random-state": "--seed",
    "--overwrite": "--force",
}


class Command(TyperCommand):
    """A command that suggests its option for a parameter of Python."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line."""
        try:
            return super().parse_args(ctx, args)
        except Exception as raised:
            error: Any = raised  # typer does not export the type of errors about unknown options
            option = FROM_PYTHON.get(getattr(error, "option_name", None) or "")
            if option in [name for each in self.params for name in each.opts]:
                error.possibilities = [option]
            raise


@dataclass(frozen=True)
class Panel:
    """A panel of the help, and the options in it."""

    title: str

    def option(self, names: str, help: str, default: Any = None, **more: Any) -> Any:  # noqa: A002
        """A field of a group: an option with these flags and, if it has one, its value.

        ``shown`` replaces the default in the help text.
        """
        *flags, last = names.split()
        is_value = not last.startswith("-")
        more |= {"show_default": more.pop("shown")} if "shown" in more else {}
        more |= {"metavar": last} if is_value else {}
        flags += [] if is_value else [last]
        declared = typer.Option(*flags, rich_help_panel=self.title, help=help, **more)
        return field(default=default, metadata={OPTION: declared})


def completion(words: Sequence[str]) -> Callable[[str], list[str]]:
    """A completer that offers the words with the prefix typed so far."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Expose the fields of a command's dataclass parameters to typer as separate options."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        p.name: p.annotation for p in parameters if is_dataclass(p.annotation)
    }

    @wraps(command)
    def from_options(**options: Any) -> None:
        made = {
            name: group(**{each.name: options.pop(each.name) for each in fields(group)})
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
    types = get_type_hints(group)
    return [
        inspect.Parameter(
            each.name,
            KEYWORD,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=Annotated[types[each.name], each.metadata[OPTION]],
        )
        for each in fields(group)
    ]
