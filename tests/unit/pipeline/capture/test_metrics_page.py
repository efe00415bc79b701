"""Figures where Prometheus looks."""

import asyncio
import socket
from urllib.request import urlopen

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.metrics_page import metrics_page


def test_figures_are_shown_while_the_block_lasts() -> None:
    def fetch(port: int) -> str:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text: str = answer.read().decode()
            return text

    async def run() -> str:
        meter = Meter()
        meter.count("c", 1)
        async with metrics_page(meter, "shop", 0) as port:
            return await asyncio.to_thread(fetch, port)

    assert 'aerobee_capture_rows_total{capture="shop",op="c"} 1' in asyncio.run(run())


def test_a_port_that_is_taken_is_said() -> None:
    async def run(port: int) -> None:
        async with metrics_page(Meter(), "shop", port):
            pass

    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(Misuse) as raised:
            asyncio.run(run(taken.getsockname()[1]))
        assert "--metrics-port" in raised.value.hint
