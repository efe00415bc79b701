"""Faults of a page are noticed, whatever a test looks at: shown by pages that commit them."""

from http.server import BaseHTTPRequestHandler

from tests.hostile_text_kit import serving
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


class Bad(BaseHTTPRequestHandler):
    """A page with the console's policy, and a script that breaks a rule."""

    def do_GET(self) -> None:
        scripts = list(BAD)
        self.send_response(404 if self.path == "/absent" else 200)
        self.send_header(
            "content-security-policy", "default-src 'none'; script-src 'self'; connect-src 'self'"
        )
        if self.path.startswith("/script"):
            body = f"try {{ {scripts[int(self.path[7:])]} }} catch {{}}".encode()
            self.send_header("content-type", "text/javascript")
        else:
            body = f"<!doctype html><body><script src=/script{self.path[1:]}></script>".encode()
            self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


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
