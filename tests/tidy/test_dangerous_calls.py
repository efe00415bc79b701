from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.tidy import dangerous_calls
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]
ROOT = Path(__file__).resolve().parents[2]


def test_the_package_makes_no_dangerous_call(repository: SourceTree) -> None:
    breaches = dangerous_calls.dangerous_calls(repository)
    assert not breaches, "\n".join(breaches)


def test_the_tree_holds_no_secret(repository: SourceTree) -> None:
    breaches = dangerous_calls.secrets(repository)
    assert not breaches, "\n".join(breaches)


def test_every_exception_is_a_module_that_needs_it() -> None:
    for place in dangerous_calls.STARTERS:
        assert "subprocess" in (ROOT / place).read_text("utf-8"), place
    for place in dangerous_calls.SHELLS:
        assert "create_subprocess_shell" in (ROOT / place).read_text("utf-8"), place


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from subprocess import run; run([text])",
        "import subprocess as program; program.Popen([text])",
        "from os import system as say; say(text)",
        "from builtins import eval as value; value(text)",
        "os.execv(path, [text])",
        "from tempfile import mktemp; mktemp()",
        "from marshal import loads",
        "eval(text)",
        "exec(text)",
        "yaml.load(text)",
        "os.system(text)",
        "subprocess.run([text])",
        "run(text, shell=True)",
        "tempfile.mktemp()",
        "get(url, verify=False)",
        "context.verify_mode = ssl.CERT_NONE",
        "is_right = said.signature == made",
        "if hmac != known: pass",
    ],
)
def test_a_dangerous_call_is_found(planted: Plant, line: str) -> None:
    tree = planted({"src/aerobee/app/a.py": f"{line}\n"})
    (breach,) = dangerous_calls.dangerous_calls(tree)
    assert breach.startswith("src/aerobee/app/a.py:1: ")


def test_what_is_harmless_is_not(planted: Plant) -> None:
    text = (
        "import hmac\n"
        "pattern = re.compile(text)\n"
        "yaml.safe_load(text)\n"
        "hmac.compare_digest(a, signature)\n"
        "if signature is None: pass\n"
    )
    assert not dangerous_calls.dangerous_calls(planted({"src/aerobee/app/a.py": text}))


def test_a_tool_may_start_a_program_but_no_shell(planted: Plant) -> None:
    assert not dangerous_calls.dangerous_calls(planted({"tools/a.py": "subprocess.run([text])\n"}))
    for line in ("subprocess.run(text, shell=True)", "os.system(text)", "import pickle"):
        (breach,) = dangerous_calls.dangerous_calls(planted({"tools/a.py": f"{line}\n"}))
        assert breach.startswith("tools/a.py:1: ")


@pytest.mark.parametrize("place", ["docs/a.md", "src/aerobee/app/a.py", ".ci/run", "console/a.ts"])
def test_a_random_word_is_taken_for_a_secret(planted: Plant, place: str) -> None:
    word = b64encode(sha256(place.encode()).digest()).decode()
    tree = planted({place: f"KEY = '{word}'\n", "go.sum": word})
    (breach,) = dangerous_calls.secrets(tree)
    assert breach.startswith(f"{place}:1: ")
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
    assert not dangerous_calls.secrets(planted({place: f"{alphabet} {'0123456789aB' * 4}"}))


def test_a_secret_is_found_anywhere(planted: Plant) -> None:
    key = "-----BEGIN RSA PRIVATE" + " KEY-----"
    tree = planted({"tests/a.py": f'"""A key."""\nKEY = """{key}\nMII"""\n'})
    (breach,) = dangerous_calls.secrets(tree)
    assert breach.startswith("tests/a.py:2: ")
