"""The text behind an address of the web that was configured, fetched beside the event loop.

Only addresses of settings are fetched, never one of a request. No proxy is used and no redirect is
followed: a server elsewhere is not asked in the console's name.
"""

import asyncio
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any

from aerobee.errors import NoAnswer

BYTES_MAX = 8 << 20


async def fetch_text(url: str, seconds: float, headers: Mapping[str, str] | None = None) -> str:
    """Return the text of an answer with status 200. NoAnswer: there is none."""
    return await asyncio.to_thread(_fetch, url, seconds, dict(headers or {}))


def _fetch(url: str, seconds: float, headers: dict[str, str]) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 (settings check the scheme)
    place = request.host
    try:
        with opener.open(request, timeout=seconds) as answer:
            data: bytes = answer.read(BYTES_MAX + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise NoAnswer(f"{place} answered with status {error.code}", address=place) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise NoAnswer(f"{place} does not answer: {reason}", address=place) from None
    if len(data) > BYTES_MAX:
        raise NoAnswer(f"{place} answered with more than {BYTES_MAX} bytes", address=place)
    return data.decode("utf-8", "replace")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *told: Any, **named: Any) -> None:
        return None
