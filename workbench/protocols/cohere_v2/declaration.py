"""Facts about Cohere's chat beside its bodies: simulator, SDK, imports."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.declaration import (
    BaseVariable,
    ErrorStyle,
    ImportHints,
    Serving,
    TransportSdk,
    endpoint,
)

SERVING = Serving(
    call_id="{name}_{12}",
    answer_id="{32}",
    errors=ErrorStyle(body={"id": "{request_id}", "message": "{message}"}),
    endpoints=(
        endpoint(
            "GET", r"/v1/models", lambda names, _: {"models": [{"name": n, "endpoints": ["chat"]} for n in names]}
        ),
    ),
    spellings=((r"(?<!/api)/chat(/?)\Z", r"/v2/chat\1"),),
    variable=BaseVariable("CO_API_URL"),
)

SDK = TransportSdk(
    "cohere",
    ("import cohere", "import httpx"),
    'cohere.ClientV2(api_key="sent by the transport", httpx_client=http)',
    'client.chat(model="recorded", messages=[])',
    'client.chat_stream(model="recorded", messages=[])',
)

IMPORT_HINTS = ImportHints(providers=("cohere",), carrier=Carrier.THINKING_CHUNK)
