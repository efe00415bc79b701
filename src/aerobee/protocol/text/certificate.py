"""Certificate holds the facts in a PEM file: the owner, the issuer, the hosts, the times.

Only read, never believed: OpenSSL decides whether a certificate is good. The standard library shows
these facts only of certificates that it believes, and an expired one is what matters here.

    Certificate ::= { tbs { [0] version, serial, algorithm, issuer, validity { from, to }, subject,
                            key, …, [3] extensions { { id, [critical], value } … } }, …, … }

in DER: a tag, a length, a value. Every length is compared with what is there.
"""

import base64
import binascii
import re
from calendar import timegm
from collections.abc import Iterator
from ipaddress import ip_address
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError

BYTES_MAX = 1 << 20
"""Of a file of certificates."""

_BLOCK = re.compile(
    r"-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----"
)
_SEQUENCE = 0x30
_VERSION = 0xA0
_EXTENSIONS = 0xA3
_OCTETS = 0x04
_BOOLEAN = 0x01
_DNS_NAME = 0x82
_ADDRESS = 0x87
_UTC_TIME = 0x17
_COMMON_NAME = bytes.fromhex("550403")
_ALTERNATIVE_NAMES = bytes.fromhex("551d11")
_BASIC_CONSTRAINTS = bytes.fromhex("551d13")


class Certificate(NamedTuple):
    subject: str
    """Its common name."""
    issuer: str
    hosts: tuple[str, ...]
    """Names and addresses of hosts; a client's has none."""
    starts: int
    """Seconds since 1970."""
    ends: int
    is_authority: bool


class _Element(NamedTuple):
    tag: int
    value: bytes


def read_certificates(text: str) -> list[Certificate]:
    """The certificates of a PEM file, in their order. RemoteProtocolError: there is none, or one
    cannot be read."""
    found = [_read(_decoded(block[1])) for block in _BLOCK.finditer(text[:BYTES_MAX])]
    if not found:
        raise RemoteProtocolError("there is no PEM certificate in it")
    return found


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        raise RemoteProtocolError("a PEM certificate that is no base64") from None


def _read(data: bytes) -> Certificate:
    try:
        outer = next(_elements(data))
        fields = list(_elements(next(_elements(outer.value)).value))
        if fields[0].tag == _VERSION:
            fields.pop(0)
        _, _, issuer, validity, subject, _ = fields[:6]
        starts, ends = (_time(one) for one in _elements(validity.value))
        extensions = _extensions(fields[6:])
        return Certificate(
            _common_name(subject.value),
            _common_name(issuer.value),
            _hosts(extensions.get(_ALTERNATIVE_NAMES, b"")),
            starts,
            ends,
            _is_authority(extensions.get(_BASIC_CONSTRAINTS, b"")),
        )
    except (IndexError, StopIteration, ValueError):
        raise RemoteProtocolError("a certificate that cannot be read") from None


def _elements(data: bytes) -> Iterator[_Element]:
    """Split DER into its elements. ValueError: a length is wrong."""
    position = 0
    while position < len(data):
        tag, size = data[position], data[position + 1]
        position += 2
        if size & 0x80:
            count = size & 0x7F
            if not 1 <= count <= 4 or position + count > len(data):
                raise ValueError("a length of a length")
            size = int.from_bytes(data[position : position + count], "big")
            position += count
        if position + size > len(data):
            raise ValueError("longer than what is there")
        yield _Element(tag, data[position : position + size])
        position += size


def _time(element: _Element) -> int:
    text = element.value.decode("ascii")
    if element.tag == _UTC_TIME:
        text = ("20" if int(text[:2]) < 50 else "19") + text
    if not re.fullmatch(r"\d{14}Z", text, re.ASCII):
        raise ValueError("a time that cannot be read")
    year, month, day = int(text[:4]), int(text[4:6]), int(text[6:8])
    return timegm((year, month, day, int(text[8:10]), int(text[10:12]), int(text[12:14])))


def _common_name(name: bytes) -> str:
    for part in _elements(name):
        for attribute in _elements(part.value):
            kind, value = list(_elements(attribute.value))[:2]
            if kind.value == _COMMON_NAME:
                return value.value.decode("utf-8", "replace")
    return ""


def _extensions(fields: list[_Element]) -> dict[bytes, bytes]:
    found = {}
    for field in fields:
        if field.tag == _EXTENSIONS:
            for extension in _elements(next(_elements(field.value)).value):
                parts = list(_elements(extension.value))
                if parts[-1].tag == _OCTETS:
                    found[parts[0].value] = parts[-1].value
    return found


def _hosts(value: bytes) -> tuple[str, ...]:
    if not value:
        return ()
    names = []
    for name in _elements(next(_elements(value)).value):
        if name.tag == _DNS_NAME:
            names.append(name.value.decode("ascii", "replace"))
        elif name.tag == _ADDRESS:
            names.append(str(ip_address(name.value)))
    return tuple(names)


def _is_authority(value: bytes) -> bool:
    if not value:
        return False
    first = next(_elements(next(_elements(value)).value), None)
    return first is not None and first.tag == _BOOLEAN and first.value != b"\0"
