import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("commands", "contract", "helpers", "matrix_contract")

settings.register_profile("default", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("default")

signal.signal(signal.SIGINT, signal.default_int_handler)  # which test workers and shells may ignore

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data_file():
    """Find a file of the 20 Newsgroups or MovieLens archives, which the project does not hold."""

    def find(name: str) -> Path:
        for folder in (os.environ.get("COMARKOV_DATA"), ROOT.parent / "shared" / "data"):
            if folder and (Path(folder) / name).exists():
                return Path(folder) / name
        pytest.skip(f"{name} is neither in $COMARKOV_DATA nor in ../shared/data")

    return find
