import sys
from subprocess import run

import pytest

from aerobee.cli.main import main


def test_help_has_examples_and_names_the_nouns(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    for noun in ("up", "nameserver", "broker"):
        assert f"\n    {noun}" in said
    assert "examples:" in said


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["nameserver"], ["nameserver", "fly"]])
def test_what_is_not_understood_is_a_usage_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: aerobee" in capsys.readouterr().err


def test_help_does_not_wait_for_what_it_does_not_need() -> None:
    program = (
        "import sys\n"
        "from aerobee.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = [name for name in ('asyncio', 'aerobee.net', 'aerobee.service') "
        "if name in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    run([sys.executable, "-c", program], check=True, capture_output=True)
