"""The script of the page in which a browser shows the app: its address and its connection."""

from __future__ import annotations

from typing import Final

QUIT: Final = 4000
"""Code of a connection that was closed because the person has left the app."""

SCRIPT: Final = """<script>
(() => {
  history.replaceState(null, "", "/");
  const page = sessionStorage.page ||= crypto.randomUUID();
  const terminal = document.getElementById("terminal");
  terminal.dataset.sessionWebsocketUrl += "/" + page;
  const say = (text) => { document.querySelector(".closed-dialog .message").textContent = text; };
  const reconnect = async () => {
    say("Connection lost. Reconnecting …");
    for (;;) {
      await new Promise((wake) => setTimeout(wake, 1000));
      try {
        if ((await fetch("/", { cache: "no-store" })).ok) { location.reload(); return; }
      } catch { say("Workbench does not answer. Waiting for it …"); }
    }
  };
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  window.addEventListener("focus", focus);
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...words) {
      super(...words);
      this.addEventListener("open", focus);
      this.addEventListener("close", (event) => {
        if (event.code === QUIT) { sessionStorage.removeItem("page"); } else { reconnect(); }
      });
    }
  };
})();
</script>
""".replace("QUIT", str(QUIT))
"""It takes the token out of the address, names the page so that its app is found again, and connects again when
the connection was lost. Keys go to the app without a click. What the app copies, the page's own terminal copies."""

BEGIN: Final = b"\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h\x1b[?25l\x1b[?2004h"
"""What the app told its first terminal: other screen, mouse, no cursor, pastes in brackets."""


def with_script(page: str) -> str:
    """A page with the script, which runs before the terminal connects."""
    return page.replace("</body>", f"{SCRIPT}</body>", 1)
