"""Settings of TLS as they are given: under RocketMQ's names or ours, in the file of the server or
in one of their own.

RocketMQ has them as properties of the Java machine (`-Dtls.server.mode=enforcing`), and some in the
file `tls.config.file`; here all of them may be in the server's file, which counts more than a file
of their own.
"""

import os
from collections.abc import Sequence

from aerobee.app.settings.config import Given, given_in_file
from aerobee.net.tls_config import ROCKETMQ_NAMES, SETTINGS

FILE_KEY = "tls.config.file"
TLS_KEYS = (*(setting.key for setting in SETTINGS), *ROCKETMQ_NAMES)


def with_our_names(given: Sequence[Given]) -> list[Given]:
    """The same values, each under its one name."""
    return [item._replace(key=ROCKETMQ_NAMES.get(item.key, item.key)) for item in given]


def given_in_tls_file(given: Sequence[Given]) -> list[Given]:
    """The values in the file that the last `tls.config.file` names. BadConfig: it cannot be
    read."""
    paths = [item.text.strip() for item in given if item.key == FILE_KEY]
    if not paths or not paths[-1]:
        return []
    return given_in_file(os.path.expanduser(paths[-1]))
