import urllib.error
import urllib.request

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.progress_page import ProgressPage


def test_a_page_shows_the_text_of_the_moment_and_nothing_else() -> None:
    texts = iter([b"one 1\n", b"one 2\n"])
    page = ProgressPage(lambda: next(texts), 0)
    try:
        place = f"http://127.0.0.1:{page.port}"
        for expected in (b"one 1\n", b"one 2\n"):
            with urllib.request.urlopen(f"{place}/metrics") as answer:
                assert answer.read() == expected
                assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urllib.request.urlopen(f"{place}/other")
        refused.value.close()
        with pytest.raises(Misuse, match="choose another port"):
            ProgressPage(lambda: b"", page.port)
    finally:
        page.close()
