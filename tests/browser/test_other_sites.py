"""Pages of other sites in a browser that has the console open: they read and change nothing.

One has a name of its own, one is another port of the console's address (cookies go there, too), and
one has pointed its name at the console (DNS rebinding).
"""

import pytest

from tests.browser_kit import log_in
from tests.console_kit import ConsoleClient
from tests.web_kit import TextHandler, serving
from tools.browser.devtools import Browser, Page

_TRY = """
(async () => {{
  const at = 'http://{address}';
  const told = {{}};
  const attempt = async (name, path, options) => {{
    try {{
      const answer = await fetch(at + path, {{credentials: 'include', ...options}});
      told[name] = answer.type === 'opaque' ? 'opaque' : await answer.text();
    }} catch (error) {{ told[name] = 'refused'; }}
  }};
  const body = JSON.stringify({{name: 'forged'}});
  const json = {{'content-type': 'application/json', 'x-csrf-token': 'x'}};
  await attempt('read', '/api/session');
  await attempt('read the page', '/');
  await attempt('read, unseen', '/api/session', {{mode: 'no-cors'}});
  await attempt('write', '/api/topics', {{method: 'POST', headers: json, body}});
  await attempt('write, unseen', '/api/topics', {{method: 'POST', mode: 'no-cors', body}});
  await attempt('log out', '/api/logout', {{method: 'POST', mode: 'no-cors', body: '{{}}'}});
  await attempt('tool', '/mcp', {{method: 'POST', headers: json, body}});
  await attempt('tool, unseen', '/mcp', {{method: 'POST', mode: 'no-cors', body}});
  for (const path of ['/api/topics', '/api/logout']) {{
    const frame = document.createElement('iframe');
    frame.name = 'into' + path;
    const form = document.createElement('form');
    Object.assign(form, {{action: at + path, method: 'POST', enctype: 'text/plain'}});
    form.target = frame.name;
    const field = document.createElement('input');
    Object.assign(field, {{name: '{{"name": "forged", "x": "', value: '"}}'}});
    form.append(field);
    document.body.append(frame, form);
    const loaded = new Promise(done => frame.addEventListener('load', done));
    form.submit();
    await loaded;
  }}
  const framed = document.createElement('iframe');
  framed.src = at + '/';
  const loaded = new Promise(done => framed.addEventListener('load', done));
  document.body.append(framed);
  await loaded;
  const opened = await fetch('/').then(answer => answer.text());
  told['own'] = opened;
  return told;
}})()
"""
_REFUSED = (
    # Each is said by the browser when it keeps an answer from a page.
    *("CORS policy", "Page.frameAttached", "CorsIssue", "frame-ancestors"),
)


class Elsewhere(TextHandler):
    """A site that is not the console's."""

    kind = "text/html"

    def text(self) -> str:
        return "<!doctype html><title>elsewhere</title><body>elsewhere"


def logged_in(browser: Browser, console: ConsoleClient) -> Page:
    page = browser.open_page()
    page.go(f"http://{console.address}/topics")
    page.wait("document.querySelector('.log-in')")
    log_in(page, "root", "root-secret")
    return page


@pytest.mark.parametrize("name", ["elsewhere.test", "127.0.0.1"], ids=["another site", "same site"])
def test_a_page_of_another_origin_reads_and_changes_nothing(
    browser: Browser, guarded: ConsoleClient, name: str
) -> None:
    before = sorted(row["name"] for row in guarded.get("/api/topics?kind=all")["rows"])
    page = logged_in(browser, guarded)
    with serving(Elsewhere) as address:
        origin = f"http://{name}:{address.rpartition(':')[2]}"
        page.go(f"{origin}/")
        page.wait("document.body?.innerText === 'elsewhere'")
        told = page.evaluate(_TRY.format(address=guarded.address))
        assert "elsewhere" in told.pop("own")
        assert set(told.values()) <= {"refused", "opaque"}, told
        assert {told["read"], told["read the page"], told["write"], told["tool"]} == {"refused"}
        # What the frames show is nothing that their page may see.
        assert page.evaluate("frames.length") == 3
        assert page.evaluate(
            "Array.from(frames).every(one => { try { return !one.document }"
            " catch { return true } })"
        )
    rows = [row for row in guarded.get("/api/audit")["rows"] if row["detail"].endswith(origin)]
    assert {row["outcome"] for row in rows} == {"refused"}
    # A browser tells another site's requests nothing of the session: they are nobody's.
    is_same_site = name in guarded.address
    assert {row["action"] for row in rows} == {"logOut", *(["createTopic"] if is_same_site else [])}
    page.expect(*_REFUSED)
    page.troubles.clear()
    assert sorted(row["name"] for row in guarded.get("/api/topics?kind=all")["rows"]) == before

    page.go(f"http://{guarded.address}/topics")  # still logged in
    page.wait("document.querySelector('.top-tools .link-button')")
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.call("Network.getCookies")["cookies"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")


def test_a_name_that_was_pointed_at_the_console_opens_nothing(
    browser: Browser, guarded: ConsoleClient
) -> None:
    page = browser.open_page()
    page.go(f"http://rebound.test:{guarded.address.rpartition(':')[2]}/")
    page.wait("document.body?.innerText.includes('wrong_host')")
    paths = ["/", "/api", "/api/session", "/api/topics", "/mcp", "/api/login", "/assets/x.js"]
    told = page.evaluate(
        f"Promise.all({paths}.flatMap(path => ['GET', 'POST'].map(method =>"
        " fetch(path, {method}).then(one => one.status))))"
    )
    # A path that has no such method says so to everybody.
    assert set(told) <= {403, 404, 405}
    assert told.count(403) >= 7
    page.expect("403")
    page.troubles.clear()
