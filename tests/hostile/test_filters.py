"""SQL expressions that nobody means: large, deep, many, slow, broken."""

import json

from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from tests.hostile.cases import Case
from tests.hostile.server import MIB, Server, pull_fields, send_fields, undisturbed
from tests.hostile.sweep import ask_all

GROWN_BYTES_MAX = 96 * MIB
TOPIC = "HostileFilters"
EXPRESSIONS = (
    "",
    " " * 16_000 + "a",
    "(" * 16_000,
    "(" * 5_000 + "a" + ")" * 5_000,
    "NOT " * 4_000 + "a",
    "-" * 8_000 + "1 = a",
    "- " * 8_000 + "1 = a",
    "a=" * 8_000 + "a",
    "a OR " * 3_000 + "a",
    " AND ".join(f"a{number} = 1" for number in range(1_000)),
    "a IN ('" + "','".join(map(str, range(2_000))) + "')",
    "a = '" + "'" * 16_000,
    "a = " + "9" * 16_000,
    "a = 1e" + "9" * 16_000,
    "/*" * 8_000,
    "/* " + "*" * 16_000,
    "--" * 8_000,
    "a CONTAINS '" + "a" * 16_000 + "'",
    "a\0b = 1",
    "\ud800 = 1",
    "ａ = 1",
    "a = 1" * 3_276,
    "'" * 16_384,
    "x" * 100_000,
)
SLOW = " OR ".join(f"p{number % 64} = 'x'" for number in range(256))


def cases(expression: str) -> list[Case]:
    """A question before the start, and a pull."""
    what = f"{expression[:20]!r}, {len(expression)} characters"
    said = {"topic": TOPIC, "subString": expression, "expressionType": "SQL92"}
    body = json.dumps({"group": "hostile", "subscriptionData": said}).encode()
    found = [Case(46, what, {}, body)]
    if expression.isprintable() and len(expression) < 30_000:
        fields = pull_fields(TOPIC, "hostile", 0, subscription=expression, expressionType="SQL92")
        found.append(Case(11, what, fields, b""))
    return found


def test_no_expression_keeps_anybody_waiting(server: Server) -> None:
    """Over messages with as many properties as fit: 64 names are looked for among thousands."""
    text = "".join(f"q{number}\x01y\x02" for number in range(4_000))[:32_000]
    sends = [Case(310, "a send", send_fields(TOPIC, i=text), b"x") for _ in range(40)]
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for one in ask_all(server.broker, sends, BINARY_TYPE):
            assert one.answers[0].code == 0, one.answers[0].remark
        asked = [case for expression in EXPRESSIONS for case in cases(expression)]
        for one in ask_all(server.broker, asked, JSON_TYPE):
            (answer,) = one.answers
            assert answer.code in (0, 1, 20, 23), (one.case.what, answer.remark)
            assert len(answer.remark) < 1_000
        for one in ask_all(server.broker, cases(SLOW)[1:] * 200, JSON_TYPE):
            (answer,) = one.answers
            assert answer.code == 20
            assert 0 < int(answer.ext_fields["nextBeginOffset"]) < 10


def test_ever_new_expressions_do_not_make_a_broker_grow(server: Server) -> None:
    many = [
        " OR ".join(f"a = {number}{term}" for term in range(256)) for number in range(1, 400)
    ] + [f"a = {number}" for number in range(15_000)]
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for one in ask_all(
            server.broker, (case for text in many for case in cases(text)[:1]), JSON_TYPE
        ):
            assert one.answers[0].code == 0
