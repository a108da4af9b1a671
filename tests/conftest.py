"""What every test shares."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.thinning import Thin
from workbench.config import resources
from workbench.contracts import loading

# A busy machine is no failure: no property has a time limit of its own.
# A run says the same each time; `pytest --hypothesis-profile=explore` draws new examples.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("explore"), derandomize=True, max_examples=40)
settings.load_profile("patient")

pytest_plugins = ["tests.forking"]

_home, _process = tempfile.TemporaryDirectory(), os.getpid()

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--approve`` writes the approved tables again, for people to read what changed; ``--every`` samples nothing."""
    parser.addoption("--approve", action="store_true", help="write the approved tables again")
    parser.addoption("--every", action="store_true", help="run every case and every example, before a release")


def pytest_configure() -> None:
    """Collect the tests without looking for garbage: there is none, and there are very many objects."""
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what the tests start would ignore it, too
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]
    os.environ["HOME"] = _home.name


def pytest_unconfigure() -> None:
    """Remove the home folder of the tests: what the user opened, recorded and set is not theirs to read."""
    if os.getpid() == _process:
        _home.cleanup()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out seven of eight drawn examples, and of a test marked ``sampled(n)`` all cases but every n-th.

    Of the slow tests, which have near relatives, one in ten is run, and each that is named on the command line.
    """
    if config.getoption("--every"):
        return
    functions = {item.obj for item in items if isinstance(item, pytest.Function)}
    for function in filter(is_hypothesis_test, functions):
        drawn = function._hypothesis_internal_use_settings
        fewer = settings(drawn, max_examples=max(min(5, drawn.max_examples), drawn.max_examples // 8))
        function._hypothesis_internal_use_settings = fewer
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    seen: Counter[str] = Counter()
    slow = () if any("::" in argument for argument in config.args) else _slow_tests_to_leave_out()
    for item in items:
        mark = item.get_closest_marker("sampled")
        name = item.nodeid.partition("[")[0]
        (left_out if name in slow or (mark and seen[name] % mark.args[0]) else kept).append(item)
        seen[name] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _slow_tests_to_leave_out() -> frozenset[str]:
    names = (Path(__file__).parent / "slow_tests.txt").read_text(encoding="utf-8").split()
    return frozenset(name for name in names if crc32(name.encode()) % 10 != 0)


def pytest_collection_finish() -> None:
    """What was collected stays: nobody has to look at it again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 20)  # tests make many objects that live as long as they do


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name a test's bytes by their argument: packed bytes hold the time, and each process must collect one list."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def give_contracts() -> Callable[[Path], None]:
    """Put the compiled contracts into the cache of a home folder: each process there would compile them for itself."""
    loading.outlines()
    kept = [*resources.cache_folder().glob("contracts-*.json")]

    def give(home: Path) -> None:
        folder = home / ".cache" / "workbench"
        folder.mkdir(parents=True, mode=0o700)
        for path in kept:
            try:
                os.link(path, folder / path.name)
            except OSError:  # another file system
                shutil.copy(path, folder)

    return give


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the recordings of third parties, beside the checkout; they are no part of the project."""
    if not SHARED.is_dir():
        pytest.skip("the folder 'shared' is not beside the checkout: recordings of third parties are not tested")
    return SHARED


@pytest.fixture(scope="session")
def thin(pytestconfig: pytest.Config) -> Thin:
    """Leave out what ``--every`` goes through besides."""
    every = pytestconfig.getoption("--every")
    return lambda found, n: islice(found, 0, None, 1 if every else n)


@pytest.fixture(scope="session")
def recordings(shared: Path) -> Path:
    """Real traffic recorded by others; read where it is, never copied."""
    return shared / "recordings"


@pytest.fixture
def approved(request: pytest.FixtureRequest) -> Callable[[str, Iterable[str]], None]:
    """Hold lines to a table that somebody has read and approved, in the folder ``approved`` beside the test."""

    def hold(name: str, lines: Iterable[str]) -> None:
        table, text = request.path.parent / "approved" / f"{name}.txt", "".join(f"{line}\n" for line in lines)
        if request.config.getoption("--approve"):
            table.parent.mkdir(exist_ok=True)
            table.write_text(text, encoding="utf-8")
        assert text.splitlines() == table.read_text(encoding="utf-8").splitlines()

    return hold


README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def stated(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Say a score in the summary of the run, and hold the README to it."""

    def state(score: str) -> None:
        record_property("score", score)
        assert f"    {score}\n" in README

    return state


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the scores that tests recorded, whatever process they ran in."""
    for report in terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", []):
        for name, value in report.user_properties:
            if name == "score":
                terminalreporter.write_line(value)
    skipped = (report for report in terminalreporter.stats.get("skipped", []) if "real" in report.keywords)
    for why in dict.fromkeys(report.longrepr[2] for report in skipped):
        terminalreporter.write_line(why.removeprefix("Skipped: "))
