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

ACCESS_KEY = "AccessKey"
SECURITY_TOKEN = "SecurityToken"
SIGNATURE = "Signature"
# Clients up to 4.9.3 add it after they have signed.
UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"


def signed_text(fields: Mapping[str, str], body: bytes, *, left_out: Collection[str] = ()) -> bytes:
    """The signed text of a request with these extension fields."""
    names = [name for name in fields if name != SIGNATURE and name not in left_out]
    names.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "".join(fields[name] for name in names).encode("utf-8", "replace") + body


def sign(text: bytes, secret_key: str) -> str:
    digest = hmac.digest(secret_key.encode(), text, hashlib.sha1)
    return base64.b64encode(digest).decode()
