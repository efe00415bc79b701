"""JSON headers that every reader must judge alike: accepted ones with their values, refused ones,
and ones that are too large but can be answered."""

from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.remoting.json_scan import PIECES_MAX

ACCEPTED: dict[str, tuple[bytes, CommandHeader]] = {
    "nothing said": (b"{}", CommandHeader()),
    "spaces anywhere between": (
        b' \t\r\n{ "code" : 1 ,\n"extFields" : { "a" : "b" } } \n',
        CommandHeader(1, ext_fields={"a": "b"}),
    ),
    "a newline at the end, as C++ writes": (b'{"code":1}\n', CommandHeader(1)),
    "all of it": (
        b'{"code":105,"extFields":{"topic":"T"},"flag":1,"language":"GO","opaque":-3,'
        b'"remark":"r","serializeTypeCurrentRPC":"JSON","version":317}',
        CommandHeader(
            105,
            flag=1,
            opaque=-3,
            version=317,
            language="GO",
            remark="r",
            ext_fields={"topic": "T"},
        ),
    ),
    "nulls are absent": (
        b'{"code":null,"extFields":null,"language":null,"remark":null,"opaque":null}',
        CommandHeader(),
    ),
    "a null field is absent": (
        b'{"extFields":{"a":null,"b":"x"}}',
        CommandHeader(ext_fields={"b": "x"}),
    ),
    "numbers as they stand": (
        b'{"extFields":{"a":0,"b":-0,"c":-12,"d":1.50,"e":1e5,"f":2E-3,"g":9223372036854775807,'
        b'"h":-9223372036854775808}}',
        CommandHeader(
            ext_fields={
                "a": "0",
                "b": "-0",
                "c": "-12",
                "d": "1.50",
                "e": "1e5",
                "f": "2E-3",
                "g": "9223372036854775807",
                "h": "-9223372036854775808",
            }
        ),
    ),
    "booleans as Java prints them": (
        b'{"extFields":{"a":true,"b":false}}',
        CommandHeader(ext_fields={"a": "true", "b": "false"}),
    ),
    "the extremes of an int": (
        b'{"code":2147483647,"opaque":-2147483648}',
        CommandHeader(2147483647, opaque=-2147483648),
    ),
    "escapes": (
        rb'{"remark":"\"\\\/\b\f\n\r\t\u0001\u00e9\u8ba2\uD83D\ude80"}',
        CommandHeader(remark='"\\/\b\f\n\r\t\x01é订🚀'),
    ),
    "raw UTF-8": ('{"remark":"é订🚀\x7f"}'.encode(), CommandHeader(remark="é订🚀\x7f")),
    "raw UTF-8 beside escapes": (
        '{"remark":"订\\u0001é\\n🚀"}'.encode(),
        CommandHeader(remark="订\x01é\n🚀"),
    ),
    "a zero character": (rb'{"remark":"a\u0000b"}', CommandHeader(remark="a\0b")),
    "an escaped key": (rb'{"c\u006fde":7}', CommandHeader(7)),
    "an empty key": (b'{"extFields":{"":""},"":1}', CommandHeader(ext_fields={"": ""})),
    "unknown keys of every kind": (
        b'{"x":{"y":[1,-2.5,"s",true,false,null,{},[],[[]]],"z":{"a":{}}},"code":3,"w":"t"}',
        CommandHeader(3),
    ),
    "sixteen deep": (b'{"x":' + b"[" * 15 + b"]" * 15 + b"}", CommandHeader()),
    "many braces that are not deep": (
        b'{"x":[' + b",".join([b"{}"] * 40) + b"]}",
        CommandHeader(),
    ),
    "128 keys": (
        b'{"extFields":{' + b",".join(b'"k%d":"v"' % n for n in range(128)) + b"}}",
        CommandHeader(ext_fields={f"k{n}": "v" for n in range(128)}),
    ),
    "a key of 128 bytes": (
        b'{"extFields":{"' + "é".encode() * 64 + b'":""}}',
        CommandHeader(ext_fields={"é" * 64: ""}),
    ),
    "a value of 32 KiB": (
        b'{"extFields":{"v":"' + b"x" * 32768 + b'"}}',
        CommandHeader(ext_fields={"v": "x" * 32768}),
    ),
    "an escaped value that is 32 KiB long": (
        b'{"extFields":{"v":"' + rb"\u0001" * 5000 + b"x" * 27768 + b'"}}',
        CommandHeader(ext_fields={"v": "\x01" * 5000 + "x" * 27768}),
    ),
    "properties of nothing but escapes": (
        b'{"extFields":{"i":"' + rb"\u0001" * 32767 + b'"}}',
        CommandHeader(ext_fields={"i": "\x01" * 32767}),
    ),
    "a remark beyond 32 KiB, cut": (
        b'{"remark":"' + b"x" * 40_000 + b'","code":7}',
        CommandHeader(7, remark="x" * 32769),
    ),
    "an escaped remark beyond 32 KiB, cut": (
        b'{"remark":"' + rb"\n" * 40_000 + b'","code":7}',
        CommandHeader(7, remark="\n" * 32769),
    ),
    "an unknown key of a large header, whatever is in it": (
        b'{"x":[{"y":1,"y":"' + rb"}\"" + b'"},nope,' + b"[1]," * (65_536 // 4) + b'],"code":7}',
        CommandHeader(7),
    ),
}

_MANY = b",".join(b'"k%d":1' % n for n in range(128))
_FIRST_128 = {f"k{n}": "1" for n in range(128)}
_FIELDS = "more than 128 fields"
_KEY = "a name or value of more than 128 bytes"
_VALUE = "a name or value of more than 32768 bytes"

EXCESSIVE: dict[str, tuple[bytes, CommandHeader, str]] = {
    "129 keys": (
        b'{"extFields":{' + _MANY + b',"one more":1},"opaque":7}',
        CommandHeader(opaque=7, ext_fields=_FIRST_128),
        _FIELDS,
    ),
    "129 keys, the last a null": (
        b'{"extFields":{' + _MANY + b',"one more":null},"opaque":7}',
        CommandHeader(opaque=7, ext_fields=_FIRST_128),
        _FIELDS,
    ),
    "129 keys, 128 of them nulls": (
        b'{"extFields":{' + _MANY.replace(b":1", b":null") + b',"one more":1},"opaque":7}',
        CommandHeader(opaque=7),
        _FIELDS,
    ),
    "a key twice, a number of 80 digits and no value behind too many": (
        b'{"extFields":{' + _MANY + b',"a":{"k0":' + b"1" * 80 + b'},"k0":},"opaque":7}',
        CommandHeader(opaque=7, ext_fields=_FIRST_128),
        _FIELDS,
    ),
    "the end of an object in a text behind too many": (
        b'{"extFields":{' + _MANY + rb',"a":"}\\","}\"}":["}"],"b":{"c":"{"}},"opaque":7}',
        CommandHeader(opaque=7, ext_fields=_FIRST_128),
        _FIELDS,
    ),
    "thousands of brackets behind too many": (
        b'{"extFields":{' + _MANY + b',"a":' + b"[" * 9000 + b"]" * 9000 + b'},"opaque":7}',
        CommandHeader(opaque=7, ext_fields=_FIRST_128),
        _FIELDS,
    ),
    "129 keys in what is skipped": (
        b'{"x":{' + _MANY + b',"one more":1},"opaque":7}',
        CommandHeader(opaque=7),
        _FIELDS,
    ),
    "a key of 129 bytes": (
        b'{"' + b"k" * 129 + b'":1,"opaque":7}',
        CommandHeader(opaque=7),
        _KEY,
    ),
    "a key of 130 bytes in 65 characters": (
        b'{"' + "é".encode() * 65 + b'":1,"opaque":7}',
        CommandHeader(opaque=7),
        _KEY,
    ),
    "two keys of 1000 bytes that begin alike": (
        b'{"extFields":{"' + b"k" * 999 + b'a":null,"' + b"k" * 999 + b'b":null},"opaque":7}',
        CommandHeader(opaque=7),
        _KEY,
    ),
    "two keys of 1000 bytes that begin alike and have values": (
        b'{"extFields":{"' + b"k" * 999 + b'a":"1","' + b"k" * 999 + b'b":"2"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"k" * 129: "2"}),
        _KEY,
    ),
    "a value beyond 32 KiB": (
        b'{"extFields":{"v":"' + b"x" * 32769 + b'","w":"1"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"v": "x" * 32769, "w": "1"}),
        _VALUE,
    ),
    "a value of a mebibyte": (
        b'{"extFields":{"v":"' + b"x" * (1 << 20) + b'","w":"1"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"v": "x" * 32769, "w": "1"}),
        _VALUE,
    ),
    "a value beyond 32 KiB that is cut within a character": (
        b'{"extFields":{"v":"' + "é".encode() * 20_000 + b'"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"v": "é" * 16384 + "\ufffd"}),
        _VALUE,
    ),
    "a control character and bad UTF-8 in a value behind 32 KiB": (
        b'{"extFields":{"v":"' + b"x" * 32769 + b'\x01\xff","w":"1"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"v": "x" * 32769, "w": "1"}),
        _VALUE,
    ),
    "an escaped value beyond 32 KiB": (
        b'{"extFields":{"v":"' + rb"\n" + b"x" * 32768 + b'","w":"1"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"v": "\n" + "x" * 32768, "w": "1"}),
        _VALUE,
    ),
    "an escaped value that goes on with quotes": (
        b'{"extFields":{"v":"' + rb"\n" * 32769 + rb"\"\\" * 100 + b'","w":"1"},"opaque":7}',
        CommandHeader(opaque=7, ext_fields={"v": "\n" * 32769, "w": "1"}),
        _VALUE,
    ),
    "more escapes than any message has": (
        b'{"extFields":{"a":"'
        + rb"\n" * 30_000
        + b'","b":"'
        + rb"\n" * 30_000
        + b'","c":"'
        + rb"\n" * 30_000
        + b'","d":"x"},"opaque":7}',
        CommandHeader(
            opaque=7,
            ext_fields={
                "a": "\n" * 30_000,
                "b": "\n" * 30_000,
                "c": "\n" * (PIECES_MAX - 60_000 + 1),
                "d": "x",
            },
        ),
        "more than 65536 escapes",
    ),
    "a skipped string beyond 32 KiB": (
        b'{"x":["' + b"x" * 32769 + b'"],"opaque":7}',
        CommandHeader(opaque=7),
        _VALUE,
    ),
    "a remark and a value beyond 32 KiB": (
        b'{"extFields":{"v":"' + b"x" * 32769 + b'"},"remark":"' + b"x" * 32769 + b'"}',
        CommandHeader(remark="x" * 32769, ext_fields={"v": "x" * 32769}),
        _VALUE,
    ),
}
"""Name → the text, the header that is read of it, its excess."""

REFUSED: dict[str, bytes] = {
    "no bytes": b"",
    "only spaces": b" \n",
    "not an object": b"[]",
    "a bare word": b"null",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "not closed": b'{"code":1',
    "cut in a key": b'{"co',
    "cut in a word": b'{"a":tru',
    "cut in an escape": b'{"a":"\\',
    "cut in a unit": rb'{"a":"\u00',
    "a trailing comma": b'{"code":1,}',
    "a leading comma": b'{,"code":1}',
    "a comma missing": b'{"code":1"flag":2}',
    "two commas": b'{"code":1,,"flag":2}',
    "a colon missing": b'{"code"1}',
    "a key that is no string": b"{1:2}",
    "an unquoted key": b"{code:1}",
    "single quotes": b"{'code':1}",
    "a trailing comma in an array": b'{"x":[1,]}',
    "an array of nothing but a comma": b'{"x":[,]}',
    "an array not closed": b'{"x":[1',
    "garbage after the end": b"{} x",
    "a second object": b"{}{}",
    "a zero after the end": b"{}\0",
    "a comment": b'{/**/"code":1}',
    "a vertical tab between": b'{\x0b"code":1}',
    "a no-break space between": b'{\xc2\xa0"code":1}',
    "the same key twice": b'{"code":1,"code":1}',
    "the same key twice, once escaped": rb'{"code":1,"c\u006fde":1}',
    "the same field twice": b'{"extFields":{"topic":"a","topic":"b"}}',
    "the same field twice, once null": b'{"extFields":{"topic":null,"topic":"b"}}',
    "extFields twice": b'{"extFields":{},"extFields":null}',
    "an unknown key twice": b'{"x":1,"x":2}',
    "a key twice in what is skipped": b'{"x":[{"y":1,"y":2}]}',
    "NaN": b'{"x":NaN}',
    "Infinity": b'{"extFields":{"a":Infinity}}',
    "-Infinity": b'{"x":[-Infinity]}',
    "1e400": b'{"extFields":{"a":1e400}}',
    "-1e400 in what is skipped": b'{"x":[-1e400]}',
    "2^63": b'{"extFields":{"a":9223372036854775808}}',
    "-2^63-1": b'{"extFields":{"a":-9223372036854775809}}',
    "2^63 in what is skipped": b'{"x":[9223372036854775808]}',
    "a number of 65 characters": b'{"x":0.' + b"0" * 63 + b"}",
    "ten thousand digits": b'{"x":' + b"1" * 10_000 + b"}",
    "a leading zero": b'{"code":01}',
    "a leading plus": b'{"code":+1}',
    "a hexadecimal number": b'{"code":0x10}',
    "a sign alone": b'{"code":-}',
    "a point without digits": b'{"x":1.}',
    "a point first": b'{"x":.5}',
    "an exponent without digits": b'{"x":1e}',
    "an underscore in a number": b'{"code":1_0}',
    "digits of another script": '{"code":１２}'.encode(),
    "a code beyond 32 bits": b'{"code":2147483648}',
    "an opaque beyond 32 bits": b'{"opaque":-2147483649}',
    "a code that is text": b'{"code":"310"}',
    "a code with a fraction": b'{"code":310.0}',
    "a code that is true": b'{"code":true}',
    "a flag that is an object": b'{"flag":{}}',
    "a language that is a number": b'{"language":9}',
    "a remark that is false": b'{"remark":false}',
    "extFields that is an array": b'{"extFields":[]}',
    "extFields that is text": b'{"extFields":"a"}',
    "an object in a field": b'{"extFields":{"a":{}}}',
    "an array in a field": b'{"extFields":{"a":["x"]}}',
    "a lone high surrogate": rb'{"remark":"\ud800"}',
    "a lone low surrogate": rb'{"remark":"\udc00"}',
    "surrogates in the wrong order": rb'{"remark":"\udc00\ud800"}',
    "a high surrogate before a letter": rb'{"remark":"\ud800a"}',
    "a high surrogate before another escape": rb'{"remark":"\ud800\n"}',
    "a high surrogate before the first unit above the low ones": rb'{"remark":"\ud800\ue000"}',
    "a lone surrogate in what is skipped": rb'{"x":["\uDFFF"]}',
    "a lone surrogate in a key": rb'{"\ud834":1}',
    "a surrogate as UTF-8": b'{"remark":"\xed\xa0\x80"}',
    "overlong UTF-8": b'{"remark":"\xc0\xaf"}',
    "overlong UTF-8 of three bytes": b'{"remark":"\xe0\x80\xaf"}',
    "beyond U+10FFFF": b'{"remark":"\xf4\x90\x80\x80"}',
    "UTF-8 cut short": b'{"remark":"\xe8\xae"}',
    "UTF-8 cut short by an escape": b'{"remark":"\xe8\\u0001\xae"}',
    "a lone continuation byte": b'{"remark":"\x80"}',
    "a raw control character": b'{"remark":"a\x01b"}',
    "a raw newline": b'{"remark":"a\nb"}',
    "a raw control character after an escape": b'{"remark":"\\n\x1f"}',
    "an unknown escape": rb'{"remark":"\x41"}',
    "an upper-case unit mark": rb'{"remark":"\U0041"}',
    "a unit with a sign": rb'{"remark":"\u+041"}',
    "129 keys at the top": b"{" + b",".join(b'"k%d":1' % n for n in range(129)) + b"}",
    "129 keys that do not end": b'{"extFields":{' + _MANY + b',"a":1',
    "129 keys and a text that does not end": b'{"extFields":{' + _MANY + b',"a":"b}}',
    "129 keys and garbage after the end": b'{"extFields":{' + _MANY + b',"a":1}}}',
    "a value beyond 32 KiB that does not end": b'{"extFields":{"v":"' + b"x" * 32769,
    "an escaped value beyond 32 KiB that does not end": b'{"extFields":{"v":"' + rb"\n" * 32769,
    "an escaped value beyond 32 KiB that ends in its escape": b'{"extFields":{"v":"'
    + rb"\n" * 32769
    + b'\\"}}',
    "a control character in a value before 32 KiB": b'{"extFields":{"v":"'
    + b"x" * 32_768
    + b"\x01"
    + b"x" * 40_000
    + b'"}}',
    "a value beyond 32 KiB after which nothing is right": b'{"extFields":{"v":"'
    + b"x" * 40_000
    + b'"},,}',
    "an unknown key of a large header that does not end": b'{"x":[' + b"1," * 40_000,
    "seventeen deep": b'{"x":' + b"[" * 16 + b"]" * 16 + b"}",
    "a thousand braces": b'{"x":' * 1000 + b"1" + b"}" * 1000,
    "a hundred thousand brackets": b'{"x":' + b"[" * 100_000,
}
