"""Runs the tests in several processes, each a fork of the one that collected them.

A process that starts anew imports and collects all tests again: 15 s of CPU time for each, on top of what all of them
read once, such as the contracts. A fork has all that in memory.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

import pytest

LENGTH = 8
"""Tests of one module that a process takes at once: few, so that all processes end together."""
WORD = 4
"""Bytes of a number in the queue."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--processes N``, and a mark for the tests that one process has to run."""
    parser.addoption("--processes", type=int, default=1, metavar="N", help="run the tests in N processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in several processes if that was asked for, and if they could all be collected."""
    processes: int = session.config.getoption("--processes")
    if processes < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    _run(session, processes)
    return True


def _run(session: pytest.Session, processes: int) -> None:
    parts = [*_parts(session.items)]
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # the folder that all share
    queue, filled = os.pipe()
    os.write(filled, b"".join(number.to_bytes(WORD) for number in range(len(parts))))
    os.close(filled)
    running = dict(_start(session, parts, queue, number) for number in range(processes))
    try:
        _report(session, running, queue)
    finally:
        os.close(queue)
        for worker in running.values():
            worker.end()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)


def _parts(items: list[pytest.Item]) -> Iterator[list[pytest.Item]]:
    groups: dict[object, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("together")
        groups.setdefault(mark.args[0] if mark else item.path, []).append(item)
    for name, tests in groups.items():
        length = len(tests) if isinstance(name, str) else LENGTH
        yield from (tests[start : start + length] for start in range(0, len(tests), length))


class _Worker:
    """A process, and the test that it runs."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.test: tuple[str, tuple[str, int | None, str]] | None = None

    def end(self) -> None:
        """Stop it if it still runs."""
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            self.ended()

    def ended(self) -> int:
        """Its exit status: negative for a signal."""
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        return os.waitstatus_to_exitcode(status)


def _start(
    session: pytest.Session, parts: list[list[pytest.Item]], queue: int, number: int
) -> tuple[Connection, _Worker]:
    here, there = Pipe(duplex=False)
    process = os.fork()
    if not process:
        status = 1
        try:
            here.close()
            _settle(session.config, number)
            _work(session, parts, queue, there)
            session.config._ensure_unconfigure()  # reports what nobody awaited or closed
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    there.close()
    return here, _Worker(process)


def _settle(config: pytest.Config, number: int) -> None:
    """Give a process its own files: captured output, temporary folders and a home, which is a copy."""
    config.pluginmanager.get_plugin("terminalreporter")._tw._file = open(os.devnull, "w")  # noqa: SIM115
    capture = config.pluginmanager.get_plugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / f"process-{number}"
    factory._basetemp.mkdir(mode=0o700)
    home = Path(os.environ["HOME"])
    assert home.is_relative_to(tempfile.gettempdir()), f"{home} is not the home folder of the tests"
    os.environ["HOME"] = str(shutil.copytree(home, factory._basetemp / "home"))


class _Teller:
    """Tells the process that collected what happens here."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self.config, self.connection = config, connection
        self.reports: list[dict[str, object]] = []

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.connection.send((nodeid, location))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_runtest_logfinish(self) -> None:
        self.connection.send(self.reports)
        self.reports = []


def _work(session: pytest.Session, parts: list[list[pytest.Item]], queue: int, connection: Connection) -> None:
    session.config.pluginmanager.register(_Teller(session.config, connection))
    tests = (test for part in _taken(parts, queue) for test in part)
    test = next(tests, None)
    while test:
        following = next(tests, None)
        session.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        test = following


def _taken(parts: list[list[pytest.Item]], queue: int) -> Iterator[list[pytest.Item]]:
    while number := os.read(queue, WORD):
        yield parts[int.from_bytes(number)]


def _report(session: pytest.Session, running: dict[Connection, _Worker], queue: int) -> None:
    while open_ := [connection for connection, worker in running.items() if worker.process]:
        for connection in wait(open_):
            _hear(session.config, connection, running[connection])
        if session.shouldfail:
            while os.read(queue, 4096):
                pass


def _hear(config: pytest.Config, connection: Connection, worker: _Worker) -> None:
    try:
        told = connection.recv()
    except EOFError:
        if (status := worker.ended()) or worker.test:
            _report_end(config, worker, status)
        return
    if isinstance(told, tuple):
        worker.test = told
        config.hook.pytest_runtest_logstart(nodeid=told[0], location=told[1])
        return
    for data in told:
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        config.hook.pytest_runtest_logreport(report=report)
    if worker.test:
        config.hook.pytest_runtest_logfinish(nodeid=worker.test[0], location=worker.test[1])
    worker.test = None


def _report_end(config: pytest.Config, worker: _Worker, status: int) -> None:
    name, location = worker.test or ("tests", ("tests", None, "between two tests"))
    why = f"the process of this test ended (exit status {status}): tests that it had taken were not run"
    config.hook.pytest_runtest_logreport(report=pytest.TestReport(name, location, {}, "failed", why, "call"))
