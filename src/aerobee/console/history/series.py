"""Names of series: `broker.broker-a.in`, `group.billing.lag`; a dot ends a part.

A part with a dot, a comma or a percent sign in it is written with these as in addresses of the web:
the topic `a.b` is `topic.a%2Eb.in`.
"""

from urllib.parse import unquote

_WRITTEN = {"%": "%25", ".": "%2E", ",": "%2C"}


def series_name(*parts: str | int) -> str:
    return ".".join(_part(str(one)) for one in parts)


def parts_of(name: str) -> list[str]:
    return [unquote(one) for one in name.split(".")]


def _part(text: str) -> str:
    for sign, written in _WRITTEN.items():
        text = text.replace(sign, written)
    return text
