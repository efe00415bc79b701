import pytest

from aerobee.app.diagnosis.finding import BAD, OK, WARN
from aerobee.app.diagnosis.kernel import KernelFacts, kernel_findings


@pytest.mark.parametrize(
    ("facts", "level"),
    [
        (KernelFacts(overcommit=0), OK),
        (KernelFacts(overcommit=1), OK),
        (KernelFacts(overcommit=2), WARN),
        (KernelFacts(map_count=262_144), OK),
        (KernelFacts(map_count=65_530), WARN),
        (KernelFacts(map_count=65_529), BAD),
        (KernelFacts(swappiness=10), OK),
        (KernelFacts(swappiness=60), WARN),
        (KernelFacts(swappiness=60, has_swap=False), OK),
        (KernelFacts(zone_reclaim=0), OK),
        (KernelFacts(zone_reclaim=1), WARN),
        (KernelFacts(huge_pages="madvise"), OK),
        (KernelFacts(huge_pages="never"), OK),
        (KernelFacts(huge_pages="always"), WARN),
        (KernelFacts(files_hard=65_536), OK),
        (KernelFacts(files_hard=65_535), WARN),
        (KernelFacts(files_hard=1024), BAD),
    ],
)
def test_each_setting_is_judged_at_its_limit(facts: KernelFacts, level: str) -> None:
    (found,) = kernel_findings(facts)
    assert found.level == level
    assert (level == OK) == (not found.change and not found.why and not found.commands)


def test_what_the_machine_does_not_say_is_not_judged() -> None:
    assert kernel_findings(KernelFacts()) == []


def test_commands_hold_now_and_after_the_next_start() -> None:
    (found,) = kernel_findings(KernelFacts(swappiness=60))
    now, later = found.commands
    assert now == "sysctl -w vm.swappiness=1"
    assert later.startswith("echo 'vm.swappiness = 1' >> /etc/sysctl.d/")
