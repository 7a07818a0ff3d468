"""Ctrl-C goes to whom it should, and back again."""

import signal
import threading

import pytest

from comarkov.io.interrupts import delayed, handling_interrupts

DEFAULT = signal.default_int_handler


def current():
    return signal.getsignal(signal.SIGINT)


def press_and(go_on):
    """Ctrl-C, and what the program does then."""
    signal.raise_signal(signal.SIGINT)
    go_on()


def fail():
    raise RuntimeError("no space")


@pytest.fixture
def pressed():
    """How often a handler was called, and the handler."""
    calls = []
    return calls, lambda signum, frame: calls.append(signum)


def test_handlers_are_restored_one_by_one_also_after_errors(pressed):
    calls, outer = pressed
    with handling_interrupts(outer):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(RuntimeError), handling_interrupts(signal.SIG_IGN):
            press_and(fail)
        assert current() is outer
    assert calls == [signal.SIGINT]
    assert current() is DEFAULT


@pytest.mark.parametrize("other", [signal.SIG_IGN, lambda signum, frame: None])
def test_a_handler_of_somebody_else_stays_if_asked(pressed, other):
    _, handler = pressed
    with handling_interrupts(other):
        with handling_interrupts(handler, unless_handled=True):
            assert current() is other
        with handling_interrupts(handler):
            assert current() is handler
        assert current() is other
    with handling_interrupts(handler, unless_handled=True):
        assert current() is handler


def test_a_handler_that_python_cannot_restore_stays(pressed, monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda which: None)
    monkeypatch.setattr(signal, "signal", lambda *_: pytest.fail("it was replaced"))
    with handling_interrupts(pressed[1]), delayed():
        pass


def test_other_threads_change_nothing(pressed):
    seen = []

    def work():
        with handling_interrupts(pressed[1]), delayed():
            seen.append(current())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [DEFAULT]


def test_ctrl_c_waits_for_the_outermost_step():
    done = []

    def steps():
        with delayed():
            signal.raise_signal(signal.SIGINT)
        done.append("all of it")

    with pytest.raises(KeyboardInterrupt), delayed():
        steps()
    assert done
    assert current() is DEFAULT
    with delayed():
        pass  # and is forgotten then


def test_ctrl_c_is_not_lost_if_the_step_fails():
    with pytest.raises(KeyboardInterrupt) as caught, delayed():
        press_and(fail)
    assert str(caught.value.__context__) == "no space"
