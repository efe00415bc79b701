"""Endpoints: actions as routes of an ASGI application, each request checked in the same order.

    host ─▶ visitor ─▶ role ─▶ CSRF, origin ─▶ size ─▶ parameters ─▶ confirmation ─▶ the action

Every change is in the record of actions, also one that was refused, failed or was ended, and
whatever a visitor's role may not do. An answer larger than a page is a stream; what lasts ends when
its visitor goes away, and with its session.
"""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import partial
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
from aerobee.console.http.event_text import (
    Ending,
    event_bytes,
    json_bytes,
    pieces_until,
    with_pings,
)
from aerobee.console.http.guard import check_change, check_host
from aerobee.console.http.parameters import Parsed, read_all
from aerobee.console.http.problem import Problem, bad_request, problem_of
from aerobee.console.session.action_log import DONE, FAILED, REFUSED
from aerobee.console.session.visitor import Role, Visitor
from aerobee.errors import AerobeeError

_log = logging.getLogger(__name__)

BODY_BYTES_MAX = 2 << 20
"""A message of a megabyte, as base64 in JSON, and room for its properties."""
FORBIDDEN = "forbidden"
"""The code of what a visitor's role may not do."""

RecordChange = Callable[[Visitor, Action, str, str, str], Awaitable[None]]
"""Notes a change: visitor, action, what it was of, outcome, detail."""


class Doorman(Protocol):
    """Tells who a visitor is."""

    def visitor(self, token: str, address: str) -> Visitor: ...

    async def told(self, visitor: Visitor) -> Record:
        """What the page of a visitor needs to know at first."""
        ...

    async def until_end(self, token: str) -> None:
        """Return when the session of a cookie is over."""
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

    def ending(self, token: str) -> Ending:
        """Return what waits for the end of the session of a cookie."""
        return partial(self.doorman.until_end, token)


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
        of = _named(action, request.path_params)
        try:
            check_host(request.headers.get("host", ""), entrance.hosts)
            visitor = entrance.doorman.visitor(token, address)
            check_role(action.role, visitor)
            if action.changes:
                check_change(request.headers, visitor)
            ask = await _ask(action, request, visitor, token)
            of = _named(action, ask.given)
            check_confirmed(action, ask)
            doing = action.act(ask)
            if action.ends_with_visitor:
                doing = _while_awaited(doing, request, entrance.ending(token))
            answer = await doing
        except AerobeeError as error:
            problem = problem_of(error)
            await note_problem(entrance, visitor, action, of, problem)
            return error_response(problem)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception:
            _log.exception("an action of the console failed", extra={"action": action.name})
            problem = Problem(500, "internal", "the console failed; its log has more")
            await note_problem(entrance, visitor, action, of, problem)
            return error_response(problem)
        if action.changes and not ask.is_dry:
            await entrance.record(visitor, action, of, DONE, "")
        return response_of(answer, entrance, token)

    return serve


def _named(action: Action, values: Mapping[str, object]) -> str:
    """The name of the thing that an action is of, as far as it is known."""
    return str(values.get(action.of or action.confirm, ""))


async def note_problem(
    entrance: Entrance, visitor: Visitor, action: Action, of: str, problem: Problem, way: str = ""
) -> None:
    """Put a change that was not made into the record, and what a role may not do. `way`: how it was
    asked for, if not by the API."""
    if action.changes or problem.code == FORBIDDEN:
        outcome = REFUSED if problem.status in (401, 403, 409, 429) else FAILED
        await entrance.record(visitor, action, of, outcome, f"{way}{problem.message}")


async def _while_awaited(
    doing: Coroutine[Any, Any, Answer], request: Request, ending: Ending
) -> Answer:
    """Return an answer, or end what makes it when the visitor goes away or the session is over; it
    says what was done."""
    work = asyncio.create_task(doing)
    ends = (asyncio.create_task(_gone(request)), asyncio.create_task(ending()))
    await asyncio.wait((work, *ends), return_when=asyncio.FIRST_COMPLETED)
    for one in (*ends, work):
        one.cancel()  # nothing, if it is done
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
        raise Problem(403, FORBIDDEN, f"this needs the role {role.word}")


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


def response_of(answer: Answer, entrance: Entrance, token: str) -> Response:
    """Return the response of an answer; one that lasts ends with the session of the token."""
    plain = {"cache-control": "no-store"}
    match answer:
        case EventStream():
            pieces = _written(answer, entrance.ending(token))
            return StreamingResponse(pieces, headers=plain, media_type="text/event-stream")
        case Download():
            headers = {**plain, "content-disposition": f'attachment; filename="{answer.name}"'}
            pieces = pieces_until(answer.pieces, entrance.ending(token))
            return StreamingResponse(pieces, headers=headers, media_type="application/octet-stream")
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
            return Response(json_bytes(answer), headers=plain, media_type="application/json")


async def _written(answer: EventStream, ending: Ending) -> AsyncIterator[bytes]:
    async for event in with_pings(answer.events, ending):
        yield event_bytes(event)
