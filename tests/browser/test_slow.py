"""A browser that takes long to draw a page misses nothing of what the server found meanwhile."""

import sys

import pytest
from browser.servers import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGE = """import time

import panel as pn

from workbench.dashboard.shared.background import in_background

late = pn.Column("what was found", visible=False)
in_background(pn.state.curdoc, lambda: time.sleep(2), lambda result, error: late.param.update(visible=True))
pn.Column("the page", late).servable()
"""
SLOW = """const send = WebSocket.prototype.send
let sent = 0
WebSocket.prototype.send = function (part) {
  if (++sent > 3) setTimeout(() => send.call(this, part), 4000)   // the first three ask for the document
  else send.call(this, part)
}"""


def test_what_is_found_while_the_browser_draws_gets_there(browser, tmp_path):
    (tmp_path / "page.py").write_text(PAGE)
    with serving(
        [sys.executable, "-m", "panel", "serve", str(tmp_path / "page.py"), "--port", "0"],
        tmp_path / "runs",
    ) as url:
        page = browser.new_page()
        page.add_init_script(SLOW)
        page.goto(url)
        page.get_by_text("the page").wait_for()
        page.get_by_text("what was found").wait_for(timeout=15_000)
        page.close()
