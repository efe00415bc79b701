"""`aerobee tls …`: makes certificates for a cluster, shows them, and checks them before clients do.

`init` and `issue` work on a folder with an authority; nothing is sent anywhere. `check` shakes
hands: with a server, or with the files of one, as a client and a server of Aerobee would.
"""

import argparse
import asyncio
import contextlib
import ssl
import sys
import time
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_local_verb, add_noun, say, write_shown
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import OK, UNHEALTHY, Record, WrongUse
from aerobee.errors import Misuse, ProtocolError

if TYPE_CHECKING:
    from aerobee.protocol.text.certificate import Certificate

_FOLDER = "tls"
_EXAMPLES = """\
  aerobee tls init --host mq1.example --host 10.0.0.1      an authority, and a host
  aerobee tls issue mq2.example --host mq2.example --host 10.0.0.2
  aerobee tls issue shop                                   for a client: it names no host
  aerobee tls show tls/*.crt                               whose they are, how long they hold
  aerobee tls check mq1.example:9876 --ca tls/ca.crt       as a client sees it
  aerobee tls check --cert tls/mq1.example.crt --key tls/mq1.example.key --ca tls/ca.crt
"""
_DAY_SECONDS = 86_400
_CONNECT_SECONDS = 5.0
_SECOND_THOUGHTS_SECONDS = 0.2


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "tls", "certificates: make, look at, check", _EXAMPLES)
    making = add_local_verb(verbs, "init", "make an authority for a cluster", init)
    making.add_argument("--name", default="Aerobee cluster", help="of the authority")
    issuing = add_local_verb(verbs, "issue", "make a certificate, or a new one", issue)
    issuing.add_argument("name", help="of its files, and in the certificate")
    for parser in (making, issuing):
        parser.add_argument("--dir", default=_FOLDER, help="where the authority is (./tls)")
        parser.add_argument(
            "--host",
            action="append",
            default=[],
            metavar="HOST",
            help="a name or address by which clients connect; more than once for more",
        )
        parser.add_argument("--days", type=int, default=None, metavar="N", help="how long (397)")
    showing = add_local_verb(verbs, "show", "what is in files of certificates", show)
    showing.add_argument("file", nargs="+")
    checking = add_local_verb(verbs, "check", "shake hands; status 4 if that fails", check)
    checking.add_argument("server", nargs="?", metavar="HOST:PORT", help="(none: the files)")
    checking.add_argument("--ca", default="", metavar="FILE", help="the authority (the system's)")
    checking.add_argument("--cert", default="", metavar="FILE", help="of a client, or to be tried")
    checking.add_argument("--key", default="", metavar="FILE")
    checking.add_argument("--host", default="", help="a name that the certificate must have")


def init(parsed: argparse.Namespace) -> int:
    from aerobee.app.authority import Authority

    authority = Authority(parsed.dir)
    authority.make(parsed.name)
    say(parsed, f"{authority.certificate}: for every server and client")
    say(parsed, f"{authority.key}: whoever has it makes certificates; keep it away from servers")
    if parsed.host:
        _issue(parsed, authority.folder, parsed.host[0])
    return OK


def issue(parsed: argparse.Namespace) -> int:
    _issue(parsed, parsed.dir, parsed.name)
    return OK


def _issue(parsed: argparse.Namespace, folder: str, name: str) -> None:
    from aerobee.app.authority import CERTIFICATE_DAYS, Authority

    days = CERTIFICATE_DAYS if parsed.days is None else parsed.days
    if not 1 <= days <= 36_500:
        raise WrongUse(f"--days is from 1 to 36500, not {days}")
    certificate, key = Authority(folder).issue(name, parsed.host, days)
    whose = f"for {', '.join(parsed.host)}" if parsed.host else "for a client: it names no host"
    say(parsed, f"{certificate}, {key}: {whose}")


def show(parsed: argparse.Namespace) -> int:
    records = [_record(path, one) for path in parsed.file for one in _read(path)]
    write_shown(parsed, records)
    return OK if all(_is_valid(one) for path in parsed.file for one in _read(path)) else UNHEALTHY


def _read(path: str) -> "list[Certificate]":
    from aerobee.protocol.text.certificate import BYTES_MAX, read_certificates

    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return read_certificates(file.read(BYTES_MAX))
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from None
    except ProtocolError as error:
        raise Misuse(f"{path}: {error.message}") from None


def _is_valid(one: "Certificate") -> bool:
    return one.starts <= time.time() < one.ends


def _record(path: str, one: "Certificate") -> Record:
    return {
        "file": path,
        "subject": one.subject,
        "hosts": ", ".join(one.hosts),
        "issuer": one.issuer,
        "is_authority": one.is_authority,
        "until": shown_ms(one.ends * 1000),
        "days_left": int((one.ends - time.time()) // _DAY_SECONDS),
    }


def check(parsed: argparse.Namespace) -> int:
    from aerobee.net.tls_context import client_context

    if parsed.server is None and not (parsed.cert and parsed.key):
        raise WrongUse("check what? A server, HOST:PORT, or --cert and --key")
    if bool(parsed.cert) != bool(parsed.key):
        raise WrongUse("--cert and --key go together")
    if parsed.server is not None:
        context = client_context(parsed.ca, parsed.cert, parsed.key)
        complaint, seen = asyncio.run(_greet(parsed.server, context, parsed.host))
    else:
        complaint, seen = _try_files(parsed)
    if complaint:
        print(f"aerobee: {complaint}", file=sys.stderr)
        return UNHEALTHY
    write_shown(parsed, [seen])
    return OK


async def _greet(server: str, context: ssl.SSLContext, host: str) -> tuple[str, Record]:
    """Shake hands with a server: what is wrong, or what was seen."""
    from aerobee.net.tls_faults import explained_tls

    name, _, port = server.rpartition(":")
    if not name or not port.isdigit():
        raise WrongUse(f"{server!r} is no HOST:PORT")
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(
                name.strip("[]"), int(port), ssl=context, server_hostname=host or name.strip("[]")
            )
            try:
                # A server that wants a certificate of ours says so when it has seen none.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_SECOND_THOUGHTS_SECONDS):
                        await reader.read(1)
                return "", _seen(server, writer.get_extra_info("ssl_object"))
            finally:
                writer.transport.abort()  # a farewell would have to be waited for
    except TimeoutError:
        return f"{server} does not answer within {_CONNECT_SECONDS:g} s", {}
    except OSError as error:
        return f"{server}: {explained_tls(error)}", {}


def _seen(what: str, shown: ssl.SSLObject) -> Record:
    from aerobee.net.tls_peers import names_in

    certificate = shown.getpeercert() or {}
    names = names_in(certificate)
    cipher = shown.cipher()
    ends = ssl.cert_time_to_seconds(str(certificate.get("notAfter")))
    return {
        "server": what,
        "version": shown.version() or "",
        "cipher": cipher[0] if cipher else "",
        "hosts": ", ".join(names),
        "until": shown_ms(int(ends) * 1000),
        "days_left": int((ends - time.time()) // _DAY_SECONDS),
    }


def _try_files(parsed: argparse.Namespace) -> tuple[str, Record]:
    """Have a server with these files and a client with this authority shake hands in memory."""
    from aerobee.net.tls_config import Asked, TlsConfig, TlsMode
    from aerobee.net.tls_context import client_context, server_context
    from aerobee.net.tls_faults import explained_tls

    config = TlsConfig(TlsMode.ENFORCING, parsed.cert, parsed.key)
    hosts = _read(parsed.cert)[0].hosts
    if not parsed.host and not hosts:
        return f"{parsed.cert} names no host: it is a client's", {}
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context(config, Asked.NONE).wrap_bio(to_server, to_client, server_side=True)
    client = client_context(parsed.ca).wrap_bio(
        to_client, to_server, server_hostname=parsed.host or hosts[0].replace("*", "any")
    )
    try:
        for side in (client, server, client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    except ssl.SSLError as error:
        return f"{parsed.cert}: {explained_tls(error)}", {}
    return "", _seen(parsed.cert, client)
