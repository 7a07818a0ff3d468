"""What every check in a child process does: limit its memory, and print why a file is bad."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn

BAD = 3  # exit code for a file that must not be read
LEAST_MEMORY = 4 << 30


class RefusedError(Exception):
    """The file must not be read, for a reason that is a sentence of its own."""


def run(check: Callable[[str, int], None]) -> None:
    """Check the file of the first argument, whose content may have as many bytes as the second.

    If it is bad, one line on stdout says why. A panic of Rust is not an
    Exception, but ends here too.
    """
    _limit_memory()
    try:
        check(sys.argv[1], int(sys.argv[2]))
    except RefusedError as error:
        end("!" + str(error))
    except BaseException as error:
        end(str(error).strip() or type(error).__name__)


def _limit_memory() -> None:
    """Allow at most the memory of the machine, so that the system kills no other process."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has limits
        import resource

        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = max(LEAST_MEMORY, memory)
        limit = limit if soft == resource.RLIM_INFINITY else min(limit, soft)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def end(reason: str) -> NoReturn:
    """Print why the file is bad, and end at once: threads that have panicked may never end."""
    os.write(1, reason.splitlines()[0].encode("utf-8", "backslashreplace"))
    os._exit(BAD)
