"""The judge of addresses that brokers registered: clients use them, so they must be reachable.

The most frequent mistake of a first cluster: a broker in a container or with a second network card
registers an address that only it can reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding

AREA = "cluster"


@dataclass(frozen=True, slots=True)
class NameServerFacts:
    address: str
    complaint: str = ""
    """Why it did not answer; empty: it did."""
    is_chosen: bool = True
    """Whether somebody named it. The usual address is only tried."""


@dataclass(frozen=True, slots=True)
class AddressFacts:
    broker: str
    number: int
    """0 is a master."""
    address: str
    name_server: str
    """Who gives it to clients."""
    complaint: str = ""
    is_loopback: bool = False
    is_name_server_here: bool = True


def address_findings(
    name_servers: Sequence[NameServerFacts], brokers: Sequence[AddressFacts]
) -> list[Finding]:
    found = [_name_server(one) for one in name_servers]
    if name_servers and not brokers and any(not one.complaint for one in name_servers):
        found.append(
            Finding(
                BAD,
                AREA,
                "brokers",
                "none has registered",
                "start one, or see its log: which namesrvAddr does it have?",
                "without a broker there is nowhere to send to",
                ("aerobee broker start -n HOST:9876",),
            )
        )
    return found + [_broker(one) for one in brokers]


def _name_server(facts: NameServerFacts) -> Finding:
    subject = f"name server {facts.address}"
    if not facts.complaint:
        return Finding(OK, AREA, subject, "answers")
    if not facts.is_chosen:
        return Finding(OK, AREA, subject, "none at the usual address: no cluster was looked at")
    return Finding(
        BAD,
        AREA,
        subject,
        facts.complaint,
        "start it, or give the right address with -n",
        "clients find brokers through it",
        ("aerobee nameserver start",),
    )


def _broker(facts: AddressFacts) -> Finding:
    role = "" if facts.number == 0 else f", slave {facts.number}"
    subject = f"{facts.broker}{role} at {facts.address}"
    source = f"as name server {facts.name_server} tells clients"
    if facts.is_loopback and not facts.is_name_server_here:
        return Finding(
            BAD,
            AREA,
            subject,
            f"a loopback address, {source}",
            "set brokerIP1 of that broker to an address that clients reach",
            "every client takes it for its own machine",
            (f"# in the broker.conf of {facts.broker}:", "# brokerIP1=ADDRESS"),
        )
    if facts.complaint:
        return Finding(
            BAD,
            AREA,
            subject,
            f"not reachable from here ({facts.complaint}), {source}",
            "set brokerIP1 of that broker to an address that clients reach, or open the port",
            "the broker registered it there, and every client is sent to it",
            (f"# in the broker.conf of {facts.broker}:", "# brokerIP1=ADDRESS"),
        )
    if facts.is_loopback:
        return Finding(OK, AREA, subject, f"reachable, from this machine only; {source}")
    return Finding(OK, AREA, subject, f"reachable, {source}")


def missing_somewhere(
    brokers: Sequence[AddressFacts], name_servers: Sequence[str]
) -> list[Finding]:
    """Return brokers that one name server knows and another does not: clients see different
    clusters."""
    found = []
    for address in sorted({one.address for one in brokers}):
        knows = {one.name_server for one in brokers if one.address == address}
        unaware = [one for one in name_servers if one not in knows]
        if unaware:
            broker = next(one.broker for one in brokers if one.address == address)
            found.append(
                Finding(
                    WARN,
                    AREA,
                    f"{broker} at {address}",
                    f"not known to name server {', '.join(unaware)}",
                    "give every broker all name servers: namesrvAddr=A;B",
                    "which brokers a client finds depends on which name server it asks",
                )
            )
    return found
