"""All jobs, by name, in the order in which they are listed.

To add one: write a module beside this one with a `JOB`, and add it to the tuple here.
"""

import difflib

from aerobee.errors import Misuse
from aerobee.pipeline.jobs import audit, lake, replay, statistics, upsert
from aerobee.pipeline.jobs.job import Job

JOBS: dict[str, Job] = {
    module.JOB.name: module.JOB for module in (statistics, upsert, lake, replay, audit)
}


def job_of(name: str) -> Job:
    found = JOBS.get(name)
    if found is None:
        near = difflib.get_close_matches(name, JOBS, 1)
        meant = f"was {near[0]} meant? " if near else ""
        raise Misuse(f"there is no job {name}", hint=f"{meant}there are {', '.join(JOBS)}")
    return found
