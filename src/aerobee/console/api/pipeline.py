"""The data pipeline: captures of databases, and Spark queries.

Captures keep their state in topics, so every cluster tells of its own. Queries keep theirs in
checkpoints: the console knows those whose pages of metrics it was told (`pipelinePages`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from aerobee.client.admin.admin import Admin
from aerobee.console.api.listing import Row
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import or_none
from aerobee.console.watch.catalogue import Catalogue
from aerobee.console.watch.running_jobs import RunningJobs

if TYPE_CHECKING:
    from aerobee.pipeline.capture.position import CaptureState

STALE_MS = 60_000
"""A capture that has not saved its state for so long does not run, or has nothing to read."""
NO_PAGES = (
    "Spark queries are known by their pages of metrics: start jobs with --metrics PORT, and set "
    "pipelinePages=HOST:PORT of the console"
)


class PipelinePages:
    def __init__(
        self, admin: Admin, catalogue: Catalogue, jobs: RunningJobs, wall_ms: Callable[[], int]
    ) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._jobs = jobs
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "pipeline",
                GET,
                "/api/pipeline",
                Role.VIEWER,
                "Captures of databases and Spark queries: how far they are",
                self.show,
                command="aerobee capture status",
            ),
        )

    async def show(self, ask: Ask) -> Record:
        from aerobee.pipeline.capture.state_topic import PREFIX, SCHEMAS, last_state

        now, unknown = self._wall_ms(), dict[str, str]()
        captures: list[Row] = []
        for topic in await self._catalogue.topics():
            if not topic.startswith(PREFIX) or topic.endswith(SCHEMAS):
                continue
            told, error = await or_none(last_state(self._admin, topic))
            if error is not None:
                unknown[topic] = error.message
            elif told is not None and told[0] is not None:
                captures.append(_capture_row(told[0], now))
        queries, problems = await self._jobs.look()
        unknown |= problems
        if not self._jobs.pages:
            unknown["queries"] = NO_PAGES
        return {
            "at": now,
            "captures": captures,
            "queries": [one.record() for one in queries],
            "unknown": unknown,
        }


def _capture_row(state: "CaptureState", now_ms: int) -> Row:
    return {
        "name": str(state.name),
        "phase": state.phase.value,
        "position": str(state.position),
        "rows": state.rows,
        "lag_seconds": state.lag_seconds,
        "tables_done": len(state.done),
        "reading": sorted(state.reading),
        "began": state.began_ms or None,
        "updated": state.updated_ms or None,
        "is_stale": now_ms - state.updated_ms > STALE_MS,
    }
