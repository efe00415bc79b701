"""MemberJob: the settings that a member process is started with, as a line of JSON.

The process reads them again itself, with the same environment.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.app.settings.config import Given
from aerobee.app.settings.up_settings import MemberSettings


@dataclass(frozen=True, slots=True)
class MemberJob:
    parent: int
    """The id of the process that starts it, and with which it ends."""
    level: str
    """Of its log."""
    told: Sequence[Given]
    """Settings that hold whatever the environment says."""
    defaults: Sequence[Given]
    """Settings that hold if nothing else is said."""


def job_of(member: MemberSettings, nameserver: str, level: str) -> MemberJob:
    """The job of a process that this one starts."""
    where = Given("namesrvAddr", nameserver, "the name server beside it")
    return MemberJob(os.getpid(), level, (*member.told, where), member.defaults)


def to_line(job: MemberJob) -> str:
    return json.dumps([job.parent, job.level, [*job.told], [*job.defaults]]) + "\n"


def from_line(line: bytes) -> MemberJob:
    parent, level, told, defaults = json.loads(line)
    return MemberJob(
        parent, level, [Given(*one) for one in told], [Given(*one) for one in defaults]
    )
