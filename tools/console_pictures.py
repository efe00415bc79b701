"""`make console-pictures`: pictures of the console's pages for the docs, of a cluster with traffic.

The cluster is `aerobee up --demo` with a slave, on free ports, in a folder that is removed;
pictures are taken when charts have a minute to show.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from tools.browser.chromium import find_program
from tools.browser.devtools import Browser, Page
from tools.locked import ROOT

PICTURES = ROOT / "docs/pictures"
TRAFFIC_SECONDS = 60
SETTLE_SECONDS = 3


class Shot(NamedTuple):
    name: str
    path: str
    scheme: str = "light"
    is_phone: bool = False


SHOTS = (
    Shot("console-overview", "/"),
    Shot("console-group", "/groups/demo-billing", scheme="dark"),
    Shot("console-topic", "/topics/demo-orders"),
    Shot("console-messages", "/messages?topic=demo-orders"),
    Shot("console-delayed", "/delayed?within=5m"),
    Shot("console-phone", "/", scheme="dark", is_phone=True),
    Shot("console-topics", "/topics"),
    Shot("console-groups", "/groups", scheme="dark"),
    Shot("console-message", "/messages/demo-orders/{message}"),
    Shot("console-tail", "/messages?topic=demo-orders&by=tail", scheme="dark"),
    Shot("console-dead-letters", "/dead-letters/demo-guard"),
    Shot("console-transactions", "/transactions"),
    Shot("console-broker", "/brokers/broker-a", scheme="dark"),
    Shot("console-clients", "/clients"),
    Shot("console-phone-group", "/groups/demo-billing", is_phone=True),
)


def take(page: Page, address: str, shot: Shot) -> None:
    page.resize(*((390, 844) if shot.is_phone else (1360, 900)), phone=shot.is_phone)
    page.prefer(shot.scheme)
    page.go(address + shot.path.format(message=newest_message(address)))
    page.wait("document.querySelector('main h1') && !document.querySelector('main .loading')")
    page.settle(SETTLE_SECONDS)
    page.picture(PICTURES / f"{shot.name}.png")


def newest_message(address: str) -> str:
    with urlopen(f"{address}/api/messages?topic=demo-orders&limit=1") as answer:
        (row,) = json.load(answer)["rows"]
    return str(row["offset_id"])


def main() -> None:
    words = ("up", "--demo", "--temp", "--slaves", "1", "--port", "0", "--nameserver-port", "0")
    up = subprocess.Popen(
        [sys.executable, "-m", "aerobee", *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert up.stdout is not None
        address = next(
            found[0] for line in up.stdout if (found := re.findall(r"console\s+(http\S+)", line))
        )
        with (
            tempfile.TemporaryDirectory() as folder,
            Browser(find_program(), Path(folder) / "profile") as browser,
        ):
            time.sleep(TRAFFIC_SECONDS)
            for shot in SHOTS:
                take(browser.open_page(), address, shot)
                print(f"docs/pictures/{shot.name}.png")
    finally:
        up.terminate()
        up.communicate(timeout=60)


if __name__ == "__main__":
    main()
