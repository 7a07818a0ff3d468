"""Pages about the command line, generated from the program itself."""

import re
from pathlib import Path
from typing import Any

import typer
from generated import write_pages

from comarkov.cli import program

FOLDER = Path(__file__).parent.parent / "reference" / "commands"
INDEX = """# Commands

`comarkov COMMAND --help` prints what is on these pages, which are generated from the program.
[The guide to the command line](../../how_to/command_line.md) shows the commands at work.

"""
MARKUP = re.compile(r"\[/?(?:bold|italic)\]")
EXAMPLES = re.compile(r"^Examples?\n", re.MULTILINE)


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    write_pages(FOLDER, pages())
    return {"parallel_read_safe": True}


def commands() -> dict[str, Any]:
    """Every command of the program, by its full name: `fit`, `datasets list`."""
    return dict(_below(typer.main.get_command(program()), ()))


def _below(command: Any, name: tuple[str, ...]) -> list[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        return [(" ".join(name), command)]
    return [pair for key, each in command.commands.items() for pair in _below(each, (*name, key))]


def pages() -> dict[str, str]:
    """One page for each command, and a table of all."""
    every = commands()
    result = {f"{_file(name)}.md": _page(name, command) for name, command in every.items()}
    lines = ["| command | what it does |", "|---|---|"]
    lines += [
        f"| [`{name}`]({_file(name)}.md) | {_summary(each)} |" for name, each in every.items()
    ]
    tree = ["", "```{toctree}", ":hidden:", "", *map(_file, every), "```", ""]
    result["index.md"] = INDEX + "\n".join([*lines, *tree])
    return result


def _file(name: str) -> str:
    return name.replace(" ", "_")


def _help(command: Any) -> str:
    return MARKUP.sub("", command.help or "").replace("\b\n", "")


def _summary(command: Any) -> str:
    return " ".join(_help(command).split("\n\n")[0].split())


def _page(name: str, command: Any) -> str:
    """The usage, the description, examples, arguments, and options by panel."""
    about, *examples = EXAMPLES.split(_help(command))
    if not examples:
        raise ValueError(f"The help of comarkov {name} has no example.")
    shell = [re.sub(r"\n\s*", " \\\\\n    ", one) for one in examples[0].strip().split("\n\n")]
    parts = [f"# comarkov {name}", _fenced(_usage(name, command)), about.strip(), "## Examples"]
    parts.append(_fenced("\n".join(shell)))
    for panel, parameters in _panels(command).items():
        parts += [f"## {panel}", *map(_parameter, parameters)]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    return f"```sh\n{text}\n```"


def _usage(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    words = [p.metavar if p.required else f"[{p.metavar}]" for p in arguments]
    return " ".join(["comarkov", name, "[OPTIONS]", *words])


def _panels(command: Any) -> dict[str, list[Any]]:
    """The parameters by panel of the help, arguments first."""
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        default = "Arguments" if parameter.param_type_name == "argument" else "Options"
        panels.setdefault(parameter.rich_help_panel or default, []).append(parameter)
    return dict(sorted(panels.items(), key=lambda item: item[0] != "Arguments"))


def _parameter(parameter: Any) -> str:
    """A definition: the option and its value, what it does, and its default."""
    is_argument = parameter.param_type_name == "argument"
    is_flag = not is_argument and parameter.is_flag
    if not parameter.help or not (parameter.metavar or is_flag):
        raise ValueError(f"{parameter.name} has no help, or its value has no name.")
    value = "" if is_argument or is_flag else f" {parameter.metavar}"
    names = [parameter.metavar] if is_argument else parameter.opts + parameter.secondary_opts
    term = ", ".join(f"`{name}{value}`" for name in names)
    return f"{term}\n: {MARKUP.sub('', parameter.help)}{_default(parameter)}"


def _default(parameter: Any) -> str:
    shown = parameter.show_default
    if isinstance(shown, str):
        return f" Default: {shown}."
    if not shown or not (parameter.default or parameter.default == 0) or parameter.is_flag:
        return ""
    return f" Default: `{parameter.default}`."
