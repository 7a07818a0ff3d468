"""The command ``comarkov``, which is also ``python -m comarkov``."""

import sys

from .data.extras import CLI, need


def main() -> None:
    """Run the command line, or say in one line how to install it."""
    try:
        need("The command comarkov", *CLI)
    except ImportError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    from .cli import app

    app(prog_name="comarkov")


if __name__ == "__main__":
    main()
