"""Schemas of Protobuf: the text of a `.proto` file becomes messages that bytes are read by.

Messages, enums, `oneof`, `map` and what is nested in them are read, of proto2, proto3 and editions;
options, services, extensions and imports are passed over. Of google's well-known types those that
hold values are known. A text comes from a user: it is bounded, and what is not right in it is a
NotOfFormat.
"""

import re
from dataclasses import dataclass, field

from aerobee.console.message.byte_source import DEPTH_MAX, NotOfFormat

NAMES_MAX = 2_000
_NUMBERS = "int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64"
SCALARS = frozenset([*_NUMBERS.split(), "double", "float", "bool", "string", "bytes"])
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<bad>/\*|["'])|(?P<word>\.?[A-Za-z_][\w.]*)|(?P<number>[-+]?[0-9][\w.+-]*)|(?P<sign>[^\s\w])""",
    re.DOTALL,
)
_WELL_KNOWN = """
package google.protobuf;
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message Any { string type_url = 1; bytes value = 2; }
message Empty {}
message FieldMask { repeated string paths = 1; }
message DoubleValue { double value = 1; }
message FloatValue { float value = 1; }
message Int64Value { int64 value = 1; }
message UInt64Value { uint64 value = 1; }
message Int32Value { int32 value = 1; }
message UInt32Value { uint32 value = 1; }
message BoolValue { bool value = 1; }
message StringValue { string value = 1; }
message BytesValue { bytes value = 1; }
"""


@dataclass(slots=True)
class ProtoField:
    name: str
    kind: str
    """A scalar type, or the full name of a message or an enum."""
    is_repeated: bool = False
    key: str = ""
    """Of a map: the kind of its keys."""


@dataclass(slots=True)
class ProtoMessage:
    name: str
    fields: dict[int, ProtoField] = field(default_factory=dict)


@dataclass(slots=True)
class ProtoSchema:
    messages: dict[str, ProtoMessage] = field(default_factory=dict)
    """By full name, in the order of the text."""
    enums: dict[str, dict[int, str]] = field(default_factory=dict)

    def message(self, name: str) -> ProtoMessage:
        """Return the message of a name, full or short; empty: the first of the text."""
        for full, one in self.messages.items():
            if not name or full == name or full.endswith(f".{name}"):
                return one
        raise NotOfFormat(f"the schema has no message {name[:80]}".rstrip())


def parse_proto(text: str) -> ProtoSchema:
    """Return the messages and enums of a text."""
    own = _Parser(text)
    own.file()
    known = _Parser(_WELL_KNOWN)
    known.file()
    schema = ProtoSchema(
        {**own.made.messages, **known.made.messages}, {**own.made.enums, **known.made.enums}
    )
    for message in schema.messages.values():
        for one in message.fields.values():
            one.kind = _resolved(one.kind, message.name, schema)
    if not own.made.messages:
        raise NotOfFormat("the schema has no message")
    return schema


def _resolved(kind: str, inside: str, schema: ProtoSchema) -> str:
    """Return the full name of a type, looked for from the innermost message outwards."""
    if kind in SCALARS:
        return kind
    name, scope = kind.removeprefix("."), "" if kind.startswith(".") else inside
    while True:
        full = f"{scope}.{name}" if scope else name
        if full in schema.messages or full in schema.enums:
            return full
        if not scope:
            raise NotOfFormat(f"the schema has no type {kind[:80]}")
        scope = scope.rpartition(".")[0]


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens_of(text)
        self._at = 0
        self._names = 0
        self.made = ProtoSchema()

    def file(self) -> None:
        space = ""
        while self._at < len(self._tokens):
            word = self._next()
            if word == "package":
                space = self._next()
                self._want(";")
            elif word in ("message", "enum"):
                self._block(word, space, 0)
            elif word in ("service", "extend"):
                self._next()
                self._pass_block()
            elif word != ";":
                self._pass_statement()

    def _block(self, word: str, space: str, depth: int) -> None:
        if word == "enum":
            self._enum(space)
        else:
            self._message(space, depth)

    def _message(self, space: str, depth: int) -> None:
        name = self._named(space)
        if depth > DEPTH_MAX:
            raise NotOfFormat("the schema is too deep")
        message = self.made.messages[name] = ProtoMessage(name)
        self._want("{")
        open_oneofs = 0
        while (word := self._next()) != "}" or open_oneofs:
            if word == "}":
                open_oneofs -= 1
            elif word == "oneof":
                self._next()
                self._want("{")
                open_oneofs += 1
            elif word in ("message", "enum") and self._peek(1) == "{":
                self._block(word, name, depth + 1)
            elif word == "extend" and self._peek(1) == "{":
                self._next()
                self._pass_block()
            elif word in ("option", "reserved", "extensions"):
                self._pass_statement()
            elif word != ";":
                self._field(message, word)

    def _field(self, message: ProtoMessage, word: str) -> None:
        label = word if word in ("optional", "required", "repeated") else ""
        kind = self._next() if label else word
        if kind == "group":
            raise NotOfFormat("groups of proto2 are not read")
        key = ""
        if kind == "map" and self._peek(0) == "<":
            self._want("<")
            key = self._next()
            self._want(",")
            kind = self._next()
            self._want(">")
        name = self._next()
        self._want("=")
        number = self._whole()
        self._count()
        message.fields[number] = ProtoField(name, kind, label == "repeated", key)
        self._pass_statement()

    def _enum(self, space: str) -> None:
        names = self.made.enums.setdefault(self._named(space), {})
        self._want("{")
        while (word := self._next()) != "}":
            if word in ("option", "reserved"):
                self._pass_statement()
            elif word != ";":
                self._want("=")
                self._count()
                names.setdefault(self._whole(), word)
                self._pass_statement()

    def _named(self, space: str) -> str:
        self._count()
        name = self._next()
        return f"{space}.{name}" if space else name

    def _count(self) -> None:
        self._names += 1
        if self._names > NAMES_MAX:
            raise NotOfFormat("the schema is too large")

    def _whole(self) -> int:
        word = self._next()
        if word == "-":
            word += self._next()
        try:
            return int(word, 0)
        except ValueError:
            raise NotOfFormat(f"the schema has {word[:40]!r} where a number should be") from None

    def _pass_statement(self) -> None:
        """Go behind the end of a statement, whatever is in it."""
        depth = 0
        while (word := self._next()) != ";" or depth:
            depth += (word in "{[") - (word in "}]")

    def _pass_block(self) -> None:
        self._want("{")
        depth = 1
        while depth:
            word = self._next()
            depth += (word == "{") - (word == "}")

    def _peek(self, ahead: int) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise NotOfFormat("the schema ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _want(self, sign: str) -> None:
        word = self._next()
        if word != sign:
            raise NotOfFormat(f"the schema has {word[:40]!r} where {sign!r} should be")


def _tokens_of(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup == "bad":  # a comment or a text without an end
            raise NotOfFormat(f"the schema cannot be read at {text[at : at + 40]!r}")
        if match.lastgroup is not None:
            found.append(match[0])
        at = match.end()
    return found
