import asyncio
import threading
from pathlib import Path

import pytest

from aerobee.app.migration.operator_step import OperatorStep, TakeoverFailed


def run(step: OperatorStep, seconds_max: float = 60) -> None:
    """Run a step, and wait for the thread by which asyncio has waited for the process."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds_max):
            await step.run(hint="mend it")

    try:
        asyncio.run(bounded())
    finally:
        for thread in threading.enumerate():
            if thread.name.startswith("asyncio-waitpid"):
                thread.join()


def test_a_command_is_run_to_its_end(tmp_path: Path) -> None:
    run(OperatorStep(f"echo done > {tmp_path / 'file'}"))
    assert (tmp_path / "file").read_text() == "done\n"


def test_a_command_that_fails_is_an_error_with_its_status() -> None:
    with pytest.raises(TakeoverFailed, match="`exit 7` failed with status 7") as caught:
        run(OperatorStep("exit 7"))
    assert caught.value.hint == "mend it"


def test_a_command_ends_with_the_task_that_waits_for_it(tmp_path: Path) -> None:
    pipe = tmp_path / "never"
    with pytest.raises(TimeoutError):
        run(OperatorStep(f"mkfifo {pipe}; exec cat {pipe}"), seconds_max=0.5)
