"""Endpoints: actions as routes of an ASGI application, each request checked in the same order.

    host ─▶ visitor ─▶ role ─▶ CSRF, origin ─▶ size ─▶ parameters ─▶ confirmation ─▶ the action

Every change is in the record of actions, refused ones too, and those that were ended. An answer
larger than a page is a stream; what lasts ends when its visitor goes away.
"""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from aerobee.console.http.action import (
    CONFIRM,
    Action,
    Answer,
    Ask,
    Download,
    EventStream,
    Record,
    SessionReply,
)
from aerobee.console.http.event_text import event_bytes, with_pings
from aerobee.console.http.guard import check_change, check_host
from aerobee.console.http.parameters import Parsed, read_all
from aerobee.console.http.problem import Problem, bad_request, problem_of
from aerobee.console.session.action_log import DONE, FAILED, REFUSED
from aerobee.console.session.visitor import Role, Visitor
from aerobee.errors import AerobeeError

_log = logging.getLogger(__name__)

BODY_BYTES_MAX = 2 << 20
"""A message of a megabyte, as base64 in JSON, and room for its properties."""

RecordChange = Callable[[Visitor, Action, str, str, str], Awaitable[None]]
"""Notes a change: visitor, action, what it was of, outcome, detail."""


class Doorman(Protocol):
    """Tells who a visitor is."""

    def visitor(self, token: str, address: str) -> Visitor: ...

    async def told(self, visitor: Visitor) -> Record:
        """What the page of a visitor needs to know at first."""
        ...


class Entrance(NamedTuple):
    """Facts of the door that all requests come through."""

    doorman: Doorman
    record: RecordChange
    hosts: frozenset[str]
    has_tls: bool

    @property
    def cookie(self) -> str:
        """The name of the session's cookie: browsers take the prefix only over TLS."""
        return "__Host-aerobee" if self.has_tls else "aerobee"


def routes_of(actions: Iterable[Action], entrance: Entrance) -> list[Route]:
    """Return the routes, fixed paths before those with parameters."""
    ordered = sorted(actions, key=lambda one: ("{" in one.path, -one.path.count("/")))
    return [Route(one.path, _endpoint(one, entrance), methods=[one.method]) for one in ordered]


def error_response(problem: Problem) -> Response:
    headers = {"cache-control": "no-store"}
    if problem.retry_seconds is not None:
        headers["retry-after"] = str(math.ceil(problem.retry_seconds))
    return JSONResponse(problem.record(), problem.status, headers)


def _endpoint(action: Action, entrance: Entrance) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        address = request.client.host if request.client is not None else ""
        token = request.cookies.get(entrance.cookie, "")
        visitor = Visitor(address)
        of = ""
        try:
            check_host(request.headers.get("host", ""), entrance.hosts)
            visitor = entrance.doorman.visitor(token, address)
            check_role(action.role, visitor)
            if action.changes:
                check_change(request.headers, visitor)
            ask = await _ask(action, request, visitor, token)
            of = str(ask.given.get(action.of or action.confirm, ""))
            check_confirmed(action, ask)
            doing = action.act(ask)
            answer = await (_while_awaited(doing, request) if action.ends_with_visitor else doing)
        except AerobeeError as error:
            problem = problem_of(error)
            if action.changes:
                refused = problem.status in (401, 403, 409, 429)
                outcome = REFUSED if refused else FAILED
                await entrance.record(visitor, action, of, outcome, problem.message)
            return error_response(problem)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception:
            _log.exception("an action of the console failed", extra={"action": action.name})
            message = "the console failed; its log has more"
            return error_response(Problem(500, "internal", message))
        if action.changes and not ask.is_dry:
            await entrance.record(visitor, action, of, DONE, "")
        return response_of(answer, entrance)

    return serve


async def _while_awaited(doing: Coroutine[Any, Any, Answer], request: Request) -> Answer:
    """Return an answer, or end what makes it when the visitor goes away; it says what was done."""
    work = asyncio.create_task(doing)
    gone = asyncio.create_task(_gone(request))
    await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()
    work.cancel()  # nothing, if it is done
    return await work


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def check_role(role: Role | None, visitor: Visitor) -> None:
    if role is None:
        return
    if visitor.role is None:
        raise Problem(401, "login_needed", "log in first", hint="POST /api/login")
    if not visitor.may(role):
        raise Problem(403, "forbidden", f"this needs the role {role.word}")


def check_confirmed(action: Action, ask: Ask) -> None:
    if not action.confirm or ask.is_dry:
        return
    wanted = str(ask.given.get(action.confirm, ""))
    if ask.text(CONFIRM) != wanted:
        raise Problem(
            409,
            "confirm",
            f"this cannot be undone: repeat {wanted!r} as confirm",
            hint='"dry_run": true says what would happen' if action.has_dry_run else "",
        )


async def _ask(action: Action, request: Request, visitor: Visitor, token: str) -> Ask:
    body = await read_json(request) if action.changes else {}
    given = read_all(action.all_parameters(), request.path_params, request.query_params, body)
    return Ask(given, visitor, token)


async def read_json(request: Request) -> Mapping[str, Parsed]:
    """Return the object of a request's body; empty: there is none."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > BODY_BYTES_MAX:
            raise Problem(413, "too_large", f"a request has at most {BODY_BYTES_MAX} bytes")
    if not data:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise bad_request("the body must be application/json")
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        raise bad_request("the body is no JSON") from None
    if not isinstance(parsed, dict):
        raise bad_request("the body must be an object")
    return parsed


def response_of(answer: Answer, entrance: Entrance) -> Response:
    plain = {"cache-control": "no-store"}
    match answer:
        case EventStream():
            pieces = _written(answer)
            return StreamingResponse(pieces, headers=plain, media_type="text/event-stream")
        case Download():
            headers = {**plain, "content-disposition": f'attachment; filename="{answer.name}"'}
            return StreamingResponse(
                answer.pieces, headers=headers, media_type="application/octet-stream"
            )
        case SessionReply():
            response = JSONResponse(answer.content, headers=plain)
            response.set_cookie(
                entrance.cookie,
                answer.token,
                max_age=None if answer.token else 0,
                path="/",
                secure=entrance.has_tls,
                httponly=True,
                samesite="strict",
            )
            return response
        case _:
            return JSONResponse(answer, headers=plain)


async def _written(answer: EventStream) -> AsyncIterator[bytes]:
    async for event in with_pings(answer.events):
        yield event_bytes(event)
