"""RocketMQ's ACL signature: `sign` proves the sender of a request by a shared secret.

    signed text = the values of all extension fields but `Signature`, in the order of their names,
                  without separators, UTF-8; then the body
    Signature   = Base64(HMAC-SHA1(secret key, signed text))

Names are ordered as Java orders strings, by UTF-16 unit. The header's code, flag, remark and opaque
are not signed. Agrees with Java's AclUtils and AclSigner.
"""

import base64
import hashlib
import hmac
from collections.abc import Collection, Mapping

from aerobee.model.access import Credentials

ACCESS_KEY = "AccessKey"
SECURITY_TOKEN = "SecurityToken"
SIGNATURE = "Signature"
# Clients up to 4.9.3 add it after they have signed.
UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"
STAMP = "RequestStamp"
"""Our own clients': what makes a request one that cannot be sent again (see `request_stamps`)."""


def signed_text(fields: Mapping[str, str], body: bytes, *, left_out: Collection[str] = ()) -> bytes:
    """The signed text of a request with these extension fields."""
    names = [name for name in fields if name != SIGNATURE and name not in left_out]
    names.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "".join(fields[name] for name in names).encode("utf-8", "replace") + body


def sign_fields(fields: dict[str, str], body: bytes, credentials: Credentials) -> None:
    """Add to the extension fields of a request who sends it, and the signature of all of it. Empty
    fields are taken out: RocketMQ reads an empty field of a binary header as none, and would expect
    the word `null` in its place to be signed."""
    fields.pop(SIGNATURE, None)
    for name in [name for name, text in fields.items() if not text]:
        del fields[name]
    fields[ACCESS_KEY] = credentials.access_key
    if credentials.security_token:
        fields[SECURITY_TOKEN] = credentials.security_token
    fields[SIGNATURE] = sign(signed_text(fields, body), credentials.secret_key)


def sign(text: bytes, secret_key: str) -> str:
    digest = hmac.digest(secret_key.encode(), text, hashlib.sha1)
    return base64.b64encode(digest).decode()
