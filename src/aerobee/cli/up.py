"""`aerobee up`: a name server and a broker in one process, to try things out.

Everything is in one folder that can be thrown away; its files are small. Variables that begin with
`AEROBEE_NAMESRV_` and `AEROBEE_BROKER_` count here, too.
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aerobee.app.broker_settings import BrokerSettings
    from aerobee.app.config import Given
    from aerobee.app.nameserver_settings import NameServerSettings

_EXAMPLES = """\
examples:
  aerobee up                       name server on 127.0.0.1:9876, broker on 127.0.0.1:10911,
                                   metrics and health on http://127.0.0.1:5557/metrics
  aerobee up --store try           keep messages in ./try instead of ./data
  aerobee up --port 20911 --nameserver-port 29876
"""

FOLDER = "data"
_BROKER_PORT = "10911"
# A folder to try things out should not look like half a gigabyte.
_SMALL_FILES = {
    "mappedFileSizeCommitLog": str(64 << 20),
    "mappedFileSizeConsumeQueue": "600000",
    "maxHashSlotNum": "100000",
    "maxIndexNum": "400000",
}


def add_to(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "run a name server and a broker in one process, to try things out"
    parser = nouns.add_parser(
        "up",
        help=text,
        description=text,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--store", metavar="DIR", help="where everything is kept (./data)")
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", metavar="N", help="the broker's port (10911; 0: any)")
    parser.add_argument(
        "--nameserver-port", metavar="N", help="the name server's port (9876; 0: any)"
    )
    parser.set_defaults(verb=start)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app import lifecycle, log_setup
    from aerobee.app.broker_process import BrokerPart
    from aerobee.app.nameserver_process import NameServerPart
    from aerobee.service.broker.assembly import build_broker

    settings = _settings(parsed)
    if settings is None:
        return lifecycle.WRONG_CONFIG
    log_setup.set_up_logs()
    nameserver = NameServerPart(settings[0])
    broker = BrokerPart(settings[1], build_broker, nameservers=lambda: [nameserver.address])
    return lifecycle.run([nameserver, broker])


def _settings(
    parsed: argparse.Namespace,
) -> "tuple[NameServerSettings, BrokerSettings] | None":
    """None: it was said what is wrong, of both."""
    from aerobee.app import broker_settings, nameserver_settings
    from aerobee.app.config import BadConfig, Given

    folder = os.path.abspath(parsed.store or FOLDER)
    host = _given("bindAddress", parsed.host, "--host")
    small = [Given(key, text, "small files") for key, text in _SMALL_FILES.items()]
    mistakes: list[str] = []
    nameserver = broker = None
    try:
        nameserver = nameserver_settings.read_settings(
            None,
            os.environ,
            [
                Given("kvConfigPath", f"{folder}/namesrv/kvConfig.json", "--store"),
                Given("configStorePath", f"{folder}/namesrv/namesrv.properties", "--store"),
                *host,
                *_given("listenPort", parsed.nameserver_port, "--nameserver-port"),
            ],
        )
    except BadConfig as error:
        mistakes += error.mistakes
    try:
        broker = broker_settings.read_settings(
            None,
            os.environ,
            [
                Given("storePathRootDir", f"{folder}/store", "--store"),
                *host,
                *_given("listenPort", parsed.port, "--port"),
            ],
            [*small, *_monitor(parsed)],
        )
    except BadConfig as error:
        mistakes += error.mistakes
    for mistake in mistakes:
        print(f"aerobee: {mistake}", file=sys.stderr)
    return (nameserver, broker) if nameserver is not None and broker is not None else None


def _monitor(parsed: argparse.Namespace) -> "list[Given]":
    """Metrics are shown, unless somebody says otherwise; who has another port than the usual one
    may not be the only one here."""
    from aerobee.app.config import Given

    told = [Given("metricsExporterType", "PROM", "aerobee up")]
    if parsed.port not in (None, _BROKER_PORT):
        told.append(Given("metricsPromExporterPort", "0", "aerobee up"))
    return told


def _given(key: str, text: str | None, place: str) -> "list[Given]":
    from aerobee.app.config import Given

    return [] if text is None else [Given(key, text, place)]
