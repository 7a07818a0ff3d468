"""One bar for all stages: what it shows, and where."""

import pytest
from jupyter_client.manager import start_new_kernel

from comarkov.search.progress import (
    BETA,
    CLUSTERING,
    CONFIDENCE,
    NUMBERS,
    Display,
    clock,
    fit_stages,
    showing,
)


class Recorder:
    """Keeps what a display shows."""

    def __init__(self):
        self.shown = []

    def show(self, display):
        self.shown.append((display.line(), round(display.share, 3)))

    def close(self, display, is_done):
        self.shown.append(("closed", is_done))


def test_stages_add_up_by_their_weights():
    recorder = Recorder()
    display = Display({"read": 1.0, "fit": 3.0}, recorder)
    display.begin("read")
    display.begin("fit", 2)
    display.describe("start 1")
    display.advance()
    display.advance(5)  # never more than there is
    assert recorder.shown == [
        ("1/2 read", 0.0),
        ("2/2 fit", 0.25),
        ("2/2 fit: start 1", 0.25),
        ("2/2 fit: start 1", 0.625),
        ("2/2 fit: start 1", 1.0),
    ]


def test_the_time_left_is_known_before_anything_is_done(monkeypatch):
    display = Display({"fit": 1.0}, Recorder())
    now = display._began
    monkeypatch.setattr("time.monotonic", lambda: now)
    assert display.left > 0
    display.expected = 60.0
    assert display.left == pytest.approx(60)
    display.advance(0.5)
    now += 100
    assert display.left == pytest.approx(100, rel=0.1)  # measured, not expected
    display.advance(0.5)
    assert display.left == 0


def test_a_display_inside_another_goes_on_with_it(capsys):
    with showing({"all": 1.0}, 1) as outer, showing({"part": 1.0}, 1) as inner:
        assert inner is outer
    with showing({"all": 1.0}, 0) as silent:
        assert silent is None
    assert "Done" in capsys.readouterr().err


def test_a_bar_that_fails_does_not_look_done(capsys):
    with pytest.raises(RuntimeError), showing({"all": 1.0}, 1):
        raise RuntimeError
    shown = capsys.readouterr().err
    assert "all" in shown
    assert "Done" not in shown


def test_stages_of_a_fit():
    assert list(fit_stages(("auto", 3), "auto")) == [NUMBERS, BETA, CLUSTERING, CONFIDENCE]
    assert list(fit_stages((3, None), 0.7)) == [CLUSTERING, CONFIDENCE]


def test_durations_read_like_a_clock():
    assert [clock(t) for t in (0, 61, 3600)] == ["0:00", "1:01", "1:00:00"]


CELL = """
import numpy as np
from comarkov import CoClustering
X = np.random.default_rng(0).poisson(0.3, (60, 40))
CoClustering((3, 4), n_init=6, random_state=0, verbose=1).fit(X);
"""


def test_a_notebook_shows_a_bar_without_widgets():
    manager, client = start_new_kernel()
    try:
        messages = []
        client.execute_interactive(CELL, output_hook=messages.append, timeout=120)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    busy = ("status", "execute_input")
    messages = [message for message in messages if message["msg_type"] not in busy]
    kinds = [message["msg_type"] for message in messages]
    assert kinds[0] == "display_data"
    assert set(kinds[1:]) == {"update_display_data"}
    identifiers = {message["content"]["transient"]["display_id"] for message in messages}
    assert len(identifiers) == 1  # one bar, updated in place
    first, last = (messages[i]["content"]["data"] for i in (0, -1))
    assert first["text/plain"].startswith("1/2 Clustering (0%")
    assert '<progress value="0.000"' in first["text/html"]
    assert last["text/plain"].startswith("Done (100%")
