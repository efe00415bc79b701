"""Parameters of an action: name, place, kind and bounds, and the reading of their values.

One declaration serves the check of a request, the description of the API and the pages. A value is
checked before an action sees it: a wrong one is a BadRequest that names the parameter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from aerobee.console.http.problem import bad_request

PATH, QUERY, BODY = ("path", "query", "body")
TEXT_CHARS_MAX = 4096
BODY_CHARS_MAX = 1 << 20
ITEMS_MAX = 1000

Parsed: TypeAlias = bool | int | float | str | list["Parsed"] | dict[str, "Parsed"] | None
"""A value of JSON."""
Value: TypeAlias = bool | int | float | str | list[str] | dict[str, str] | None


class ValueKind(Enum):
    """Kind of a parameter's values, by the words of OpenAPI."""

    TEXT = "string"
    WHOLE = "integer"
    REAL = "number"
    TRUTH = "boolean"
    TEXTS = "array"
    TABLE = "object"
    MOMENT = "moment"
    """Milliseconds since 1970, "earliest" or "latest"."""


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    place: str
    about: str
    kind: ValueKind = ValueKind.TEXT
    default: Value = None
    is_required: bool = False
    choices: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    chars_max: int = TEXT_CHARS_MAX

    def read(self, given: Parsed) -> Value:
        """Return the value, checked. A query's is a text, a body's what JSON has."""
        if given is None or (given == "" and self.place == QUERY):
            if self.is_required:
                raise bad_request(f"{self.name} is missing", hint=self.about)
            return self.default
        value = self._converted(given)
        if self.choices and value not in self.choices:
            wanted = ", ".join(self.choices)
            raise bad_request(f"{self.name} must be one of: {wanted}")
        return value

    def _converted(self, given: Parsed) -> Value:
        match self.kind:
            case ValueKind.TEXT:
                return self._text(given)
            case ValueKind.WHOLE:
                return int(self._number(given, is_whole=True))
            case ValueKind.REAL:
                return self._number(given, is_whole=False)
            case ValueKind.TRUTH:
                return self._truth(given)
            case ValueKind.TEXTS:
                return self._texts(given)
            case ValueKind.TABLE:
                return self._table(given)
            case ValueKind.MOMENT:
                if given in ("earliest", "latest"):
                    return self._text(given)
                return int(self._number(given, is_whole=True))

    def _text(self, given: Parsed) -> str:
        if not isinstance(given, str):
            raise self._wrong("a text")
        if len(given) > self.chars_max:
            raise self._wrong(f"at most {self.chars_max} characters long")
        return given

    def _number(self, given: Parsed, *, is_whole: bool) -> float:
        kind = "a whole number" if is_whole else "a number"
        if isinstance(given, str) and self.place != BODY:
            try:
                given = int(given) if is_whole else float(given)
            except ValueError:
                raise self._wrong(kind) from None
        wanted: tuple[type, ...] = (int,) if is_whole else (int, float)
        if isinstance(given, bool) or not isinstance(given, wanted):
            raise self._wrong(kind)
        assert isinstance(given, int | float)
        low, high = self.bounds or (-(2**63), 2**63 - 1)
        if not low <= given <= high:  # not a number is in no range
            raise self._wrong(f"from {low:g} to {high:g}")
        return given

    def _truth(self, given: Parsed) -> bool:
        if self.place != BODY and given in ("true", "false"):
            return given == "true"
        if not isinstance(given, bool):
            raise self._wrong("true or false")
        return given

    def _texts(self, given: Parsed) -> list[str]:
        found = given.split(",") if isinstance(given, str) and self.place != BODY else given
        if not isinstance(found, list) or len(found) > ITEMS_MAX:
            raise self._wrong(f"a list of at most {ITEMS_MAX} texts")
        return [self._text(one) for one in found]

    def _table(self, given: Parsed) -> dict[str, str]:
        if not isinstance(given, dict) or len(given) > ITEMS_MAX:
            raise self._wrong("an object whose values are texts")
        return {name: self._text(one) for name, one in given.items()}

    def _wrong(self, wanted: str) -> Exception:
        return bad_request(f"{self.name} must be {wanted}", hint=self.about)


def in_path(name: str, about: str) -> Parameter:
    return Parameter(name, PATH, about, is_required=True)


def read_all(
    parameters: tuple[Parameter, ...],
    path: Mapping[str, str],
    query: Mapping[str, str],
    body: Mapping[str, Parsed],
) -> dict[str, Value]:
    """Return all values by name. An unknown name is refused: it was meant to say something."""
    known = {(one.place, one.name) for one in parameters}
    for place, given in ((QUERY, query), (BODY, body)):
        for name in given:
            if (place, name) not in known:
                there = ", ".join(sorted(name for at, name in known if at == place)) or "none"
                raise bad_request(f"{name} is no parameter here", hint=f"there are: {there}")
    sources: dict[str, Mapping[str, Parsed]] = {PATH: path, QUERY: query, BODY: body}
    return {one.name: one.read(sources[one.place].get(one.name)) for one in parameters}
