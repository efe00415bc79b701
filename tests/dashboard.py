"""The dashboard for Grafana, as far as Prometheus is concerned: its queries, and what they name."""

import json
import re
from pathlib import Path
from typing import NamedTuple

DASHBOARD = Path(__file__).parent.parent / "docs/grafana/aerobee.json"

_METRIC = re.compile(r"\b((?:rocketmq|aerobee|process)_[a-z_]+)")
_SELECTOR = re.compile(r"\{([^}]*)\}")
_SELECTED = re.compile(r"([a-z_]+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\bby \(([^)]*)\)")
_OF_HISTOGRAM = re.compile(r"_(bucket|sum|count)$")


class Query(NamedTuple):
    panel: str
    expression: str

    def metrics(self) -> set[str]:
        """The names of the families."""
        found = _METRIC.findall(_SELECTOR.sub("", self.expression))
        return {_OF_HISTOGRAM.sub("", name) for name in found}

    @property
    def is_of_replicas(self) -> bool:
        """Whether only a master with slaves, or a slave, has an answer."""
        return any(name.startswith(("aerobee_replica", "aerobee_slave")) for name in self.metrics())

    def labels(self) -> set[str]:
        """Every label that it asks for, but for the bound of a histogram."""
        found = set()
        for selector in _SELECTOR.findall(self.expression):
            found.update(_SELECTED.findall(selector))
        for grouped in _GROUPED.findall(self.expression):
            found.update(name.strip() for name in grouped.split(","))
        return found - {"le"}

    def filled_in(self, window: str) -> str:
        """With what Grafana would put into it: every cluster and broker, this window."""
        return (
            self.expression.replace("$cluster", ".*")
            .replace("$broker", ".*")
            .replace("$__rate_interval", window)
        )


def queries() -> list[Query]:
    dashboard = json.loads(DASHBOARD.read_text())
    return [
        Query(panel["title"], target["expr"])
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]


class Exported(NamedTuple):
    """What a page of metrics holds."""

    kinds: dict[str, str]
    labels: dict[str, set[str]]
    """Of each family, all that any of its samples has."""


def read_page(text: str) -> Exported:
    kinds: dict[str, str] = {}
    labels: dict[str, set[str]] = {}
    family = ""
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            family, kinds[line.split()[2]] = line.split()[2], line.split()[3]
            labels.setdefault(family, set())
        elif not line.startswith("#"):
            labels[family].update(_SELECTED.findall(line.partition("{")[2].rpartition("}")[0]))
    return Exported(kinds, labels)
