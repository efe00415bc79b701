"""The ASGI application of a console: routes of actions, files of the pages, headers of answers.

A path that is no action is a file of the pages, or the page itself.
"""

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aerobee.console.http.action import Action
from aerobee.console.http.assets import Assets
from aerobee.console.http.endpoints import Entrance, routes_of
from aerobee.console.http.guard import security_headers
from aerobee.console.http.mcp import McpEndpoint


class SecurityHeaders:
    """Adds the headers of safety to every answer, errors included."""

    def __init__(self, application: ASGIApp, *, has_tls: bool) -> None:
        self._application = application
        self._headers = security_headers(has_tls=has_tls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        await self._application(scope, receive, send_with_headers)


def web_application(
    actions: Iterable[Action], entrance: Entrance, version: str, *, may_tools_change: bool
) -> ASGIApp:
    """Return the application: what is no action is a file of the pages, or the page itself.
    `may_tools_change`: assistants may change things, too."""
    listed = list(actions)
    assets = Assets(entrance)
    mcp = McpEndpoint(listed, entrance, version, may_change=may_tools_change)
    routes = [
        *routes_of(listed, entrance),
        *mcp.routes(),
        Route("/{rest:path}", assets.serve, methods=["GET"]),
    ]
    return SecurityHeaders(Starlette(routes=routes), has_tls=entrance.has_tls)
