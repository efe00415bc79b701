"""`CommandHeader`: the fields of a remoting header, the same for both codecs.

`header_json` and `header_binary` read and write it; `RemotingCommand` adds the body. The limits are
ours and hold for both forms: they are far above what any client sends, and bound the cost of a
hostile header. A header beyond them is read all the same, so that its request
can be answered: fields that are too long are cut, fields that are too many are passed over, and
`excess` names the limit.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

FIELDS_MAX = 128  # keys in one object; the captured clients send at most 15
KEY_BYTES_MAX = 128
VALUE_BYTES_MAX = 32768  # properties, the longest field by far, end at 32767

JSON_TYPE = 0
BINARY_TYPE = 1

RESPONSE_FLAG = 1
ONEWAY_FLAG = 2

# The position is the number that a binary header bears.
LANGUAGES = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
    "NODE_JS",
)
OTHER_LANGUAGE = 7


def is_compiled() -> bool:
    return cython.compiled


class CommandHeader:
    """One header. An absent remark and an empty one are the same: binary headers cannot tell.

    H1. `ext_fields` holds text only; a null value is an absent field.
    H2. `serialize_type` says how the header came or how it is to be written.
    H3. A request with an `excess` is refused, never carried out: fields are cut or missing. A value
        that was too long is still longer than VALUE_BYTES_MAX. A remark is cut without an excess,
        because nothing is decided by it.
    """

    __slots__ = (
        "code",
        "excess",
        "ext_fields",
        "flag",
        "language",
        "opaque",
        "remark",
        "serialize_type",
        "version",
    )

    def __init__(
        self,
        code: int = 0,
        *,
        flag: int = 0,
        opaque: int = 0,
        version: int = 0,
        language: str = "JAVA",
        remark: str = "",
        ext_fields: dict[str, str] | None = None,
        serialize_type: int = JSON_TYPE,
    ) -> None:
        self.code = code
        self.flag = flag
        self.opaque = opaque
        self.version = version
        self.language = language
        self.remark = remark
        self.ext_fields: dict[str, str] = {} if ext_fields is None else ext_fields
        self.serialize_type = serialize_type
        self.excess = ""

    @property
    def is_response(self) -> bool:
        return self.flag & RESPONSE_FLAG != 0

    @property
    def is_oneway(self) -> bool:
        """The sender waits for no answer: none may be sent, not even of an error."""
        return self.flag & ONEWAY_FLAG != 0

    def __eq__(self, other: object) -> bool:
        """Equal in meaning: the form on the wire does not count."""
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, CommandHeader)
        return (
            self.code == other.code
            and self.flag == other.flag
            and self.opaque == other.opaque
            and self.version == other.version
            and self.language == other.language
            and self.remark == other.remark
            and self.ext_fields == other.ext_fields
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(code={self.code}, flag={self.flag}, opaque={self.opaque}, "
            f"version={self.version}, language={self.language!r}, remark={self.remark!r}, "
            f"ext_fields={self.ext_fields!r})"
        )
