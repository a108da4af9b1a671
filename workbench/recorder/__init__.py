"""The recording reverse proxy: a separate process between a client and its upstreams.

In: connections of clients on loopback, and the upstreams of their requests. Out: the same bytes at the other side, and
a session file with them. Bytes are forwarded as they arrive; recording never delays or ends traffic. It may import the
core and the rooms up to ``trials``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.recorder import client_settings, process
    from workbench.recorder.certificate import ListenerCertificate, listener_certificate
    from workbench.recorder.client_settings import UNNAMED_UPSTREAM, ClientSettings, parse_upstreams, settings_for
    from workbench.recorder.process import RecorderProcess
    from workbench.recorder.run_home import hand_back_leftovers, private_home
    from workbench.recorder.runtime_files import private_file, sockets_of
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "UNNAMED_UPSTREAM",
    "ClientSettings",
    "ListenerCertificate",
    "RecorderProcess",
    "client_settings",
    "hand_back_leftovers",
    "listener_certificate",
    "parse_upstreams",
    "private_file",
    "private_home",
    "process",
    "settings_for",
    "sockets_of",
]
