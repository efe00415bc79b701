"""MessageFilter: tag, SQL expression, text and regular expression that a message must fit.

They are evaluated here and not by brokers, so SQL also works where brokers do not allow it
(`enablePropertyFilter`) and texts are found in bodies. Only tags are left to brokers, too.
"""

import re

from aerobee.console.http.problem import bad_request
from aerobee.errors import AerobeeError
from aerobee.model.message import StoredMessage
from aerobee.model.properties import encode_properties
from aerobee.model.subscription import ALL
from aerobee.protocol.message.tag_filter import tags_of
from aerobee.service.filters.sql_compiler import compile_sql

BODY_BYTES_MAX = 1 << 20
"""Of a body that is searched."""
REGEX_CHARS_MAX = 200


class MessageFilter:
    def __init__(self, tag: str = "", sql: str = "", text: str = "", regex: str = "") -> None:
        self.tags = tag or ALL
        """For brokers."""
        self._tags = tags_of(self.tags)
        self._text = text.lower()
        try:
            self._sql = compile_sql(sql) if sql else None
        except AerobeeError as error:
            raise bad_request(error.message, hint=error.hint) from None
        self._regex = _compiled(regex)

    def fits(self, message: StoredMessage) -> bool:
        if self._tags and message.tag not in self._tags:
            return False
        properties = message.properties
        if self._sql and not self._sql.matches_text(encode_properties(properties)):
            return False
        if not self._text and self._regex is None:
            return True
        words = _words(message)
        if self._text and self._text not in words.lower():
            return False
        return self._regex is None or self._regex.search(words) is not None


def _words(message: StoredMessage) -> str:
    """Everything of a message that a text is looked for in."""
    body = message.body[:BODY_BYTES_MAX].decode(errors="replace")
    return "\n".join((body, *message.properties.values()))


def _compiled(regex: str) -> re.Pattern[str] | None:
    if not regex:
        return None
    if len(regex) > REGEX_CHARS_MAX:
        raise bad_request(f"a regular expression has at most {REGEX_CHARS_MAX} characters")
    # One that looks into itself takes exponential time for some texts, and cannot be stopped.
    if re.search(r"[+*}?]\)*[+*{]|\\[1-9]|\(\?P=|\|.*\)[+*{]", regex):
        raise bad_request(
            "repetitions of repetitions and references back are not taken",
            hint="they can take longer than anybody waits",
        )
    try:
        return re.compile(regex, re.IGNORECASE)
    except re.error as error:
        raise bad_request(f"regex: {error}") from None
