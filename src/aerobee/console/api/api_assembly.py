"""The assembly of the API: every page gets what it needs, and gives its actions.

Imports more than 15 modules because it puts the pages together.
"""

from aerobee.console.api.access import AccessPages
from aerobee.console.api.bench import BenchPages
from aerobee.console.api.broker_rows import BrokerRows
from aerobee.console.api.brokers import BrokerPages
from aerobee.console.api.clients import ClientPages
from aerobee.console.api.equipment import Equipment
from aerobee.console.api.group_reset import GroupResetPages
from aerobee.console.api.group_times import GroupTimePages
from aerobee.console.api.groups import GroupPages
from aerobee.console.api.live import LivePages
from aerobee.console.api.message.message_assembly import message_actions
from aerobee.console.api.overview import OverviewPages
from aerobee.console.api.pipeline import PipelinePages
from aerobee.console.api.rights import RightsPages
from aerobee.console.api.topics import TopicPages
from aerobee.console.http.action import Action


def page_actions(have: Equipment) -> tuple[Action, ...]:
    """Return the actions of all pages."""
    admin, catalogue, sampler, wall_ms = have.admin, have.catalogue, have.sampler, have.wall_ms
    rows = BrokerRows(catalogue, sampler)
    pages = (
        OverviewPages(admin, catalogue, sampler, rows, wall_ms),
        LivePages(have.history, have.prometheus, have.feed, sampler, wall_ms),
        TopicPages(admin, catalogue, sampler, have.send, wall_ms),
        GroupPages(admin, catalogue, sampler, wall_ms),
        GroupResetPages(admin, catalogue),
        GroupTimePages(admin, wall_ms),
        BrokerPages(admin, catalogue, rows, wall_ms),
        ClientPages(admin, catalogue, sampler, wall_ms),
        PipelinePages(admin, catalogue, have.jobs, wall_ms),
        BenchPages(have.runs, catalogue, wall_ms),
        AccessPages(admin, catalogue, wall_ms),
        RightsPages(admin, catalogue, wall_ms),
    )
    actions = tuple(action for page in pages for action in page.actions())
    return (*actions, *message_actions(have))
