"""Starts servers of others for the trials, on loopback, and ends them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def process(*words: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own session, ended with all that it has started."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    started = subprocess.Popen(words, **quiet, **more)
    try:
        yield started
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def wait_until(is_ready: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.1)


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@contextmanager
def s3_server(bucket: str) -> Iterator[str]:
    """The URL of moto's S3 server with one empty bucket; the environment leads clients of S3 to it."""
    port = free_port()
    server = f"http://127.0.0.1:{port}"
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    os.environ.update(keys, AWS_ENDPOINT_URL=server)
    with process(sys.executable, "-m", "moto.server", "-p", str(port)):
        wait_until(lambda: answers(server))
        urllib.request.urlopen(urllib.request.Request(f"{server}/{bucket}", method="PUT")).close()
        yield server
