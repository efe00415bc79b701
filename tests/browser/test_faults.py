"""Faults of a page are noticed, whatever a test looks at: shown by pages that commit them."""

from tests.web_kit import TextHandler, serving
from tools.browser.devtools import Browser

BAD = {
    "console.error('broken')": "console: broken",
    "setTimeout(() => { throw new Error('thrown') })": "exception: Error: thrown",
    "Promise.reject(new Error('unhandled'))": "exception: Error: unhandled",
    "eval('1')": "ContentSecurityPolicyIssue",
    "document.body.append(Object.assign(new Image(), {src: 'http://leak.test:9/x'}))": (
        "asked for http://leak.test:9/x"
    ),
    "fetch('http://leak.test:9/y', {mode: 'no-cors'}).catch(() => 0)": "ContentSecurityPolicyIssue",
    "document.body.append(document.createElement('iframe'))": "Page.frameAttached",
    "fetch('/absent')": "404",
    "document.body.setAttribute('onclick', 'x'), document.body.click()": (
        "ContentSecurityPolicyIssue"
    ),
}


class Bad(TextHandler):
    """A page with the console's policy, and a script that breaks a rule."""

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "text/javascript" if self.path.startswith("/script") else "text/html"

    def status(self) -> int:
        return 404 if self.path == "/absent" else 200

    def more_headers(self) -> tuple[tuple[str, str], ...]:
        policy = "default-src 'none'; script-src 'self'; connect-src 'self'"
        return (("content-security-policy", policy),)

    def text(self) -> str:
        if self.path.startswith("/script"):
            return f"try {{ {list(BAD)[int(self.path[7:])]} }} catch {{}}"
        return f"<!doctype html><body><script src=/script{self.path[1:]}></script>"


def test_everything_that_a_page_must_not_do_is_noticed(browser: Browser) -> None:
    with serving(Bad) as address:
        for number, wanted in enumerate(BAD.values()):
            page = browser.open_page()
            page.go(f"http://{address}/{number}")
            page.wait("document.readyState === 'complete'")
            rounds = 0
            while not any(wanted in one for one in page.faults()):
                rounds += 1
                assert rounds < 1000, (wanted, page.faults())
                page.settle(0.02)
            # The fixture looks at every test's pages in this way.
            assert any(wanted in one for one in browser.close_pages())
