"""A signal ends the block that it interrupts; a thread of its own has no signals."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from moot.core import run_signals
from moot.core.errors import RunStoppedError
from moot.core.run_signals import (
    act_on_signals,
    cancel_on_signals,
    is_stopping,
    seconds_stopping,
)
from patience import PATIENCE


async def test_a_signal_ends_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_signals, "_stops", [])
    assert not is_stopping() and seconds_stopping() == 0
    with pytest.raises(RunStoppedError, match="stopped by SIGTERM"), cancel_on_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(PATIENCE)
    assert is_stopping() and 0 < seconds_stopping() < PATIENCE


def test_a_block_in_another_thread_runs() -> None:
    async def run() -> bool:
        with cancel_on_signals():
            return True

    with ThreadPoolExecutor() as threads:
        assert threads.submit(asyncio.run, run()).result()


def test_a_hang_up_that_nohup_ignores_stays_ignored() -> None:
    previous_handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with act_on_signals(print):
        handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    signal.signal(signal.SIGHUP, previous_handler)
    assert callable(handlers[0]) and handlers[0] is not signal.SIG_DFL
    assert handlers[1] is signal.SIG_IGN
