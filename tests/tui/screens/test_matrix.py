"""The matrix screen: every contract on one request."""

from __future__ import annotations

import pytest

from tests.tui.driving import Driver, showing, until
from workbench.config import resources
from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.send.matrix import MatrixHistory, MatrixRow, labels
from workbench.tui.screens.matrix import NO_REQUEST, MatrixScreen
from workbench.tui.screens.page import ContractPageScreen
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession, Session


def broken(name: str = "anthropic-parallel-result-lost") -> Session:
    return open_input(str(resources.folder("sessions") / f"{name}.jsonl"))


async def matrix_of(driver: Driver) -> MatrixScreen:
    await driver.press("m")
    screen = driver.app.screen
    assert isinstance(screen, MatrixScreen)
    work = screen.worklist
    await until(driver.pilot, lambda: work.subjects is not None and len(work.judgements) == len(work.subjects))
    return screen


async def test_every_contract_has_a_verdict_its_own_first() -> None:
    async with showing(broken()) as driver:
        screen = await matrix_of(driver)
        assert screen.worklist.subjects and set(screen.worklist.subjects) == set(labels())
        assert screen.worklist.subjects[0] == "anthropic"
        text = driver.text
        assert "✗ anthropic " in text and "refuses    closure.missing-result" in text
        assert "Anthropic responds 400: messages.1: `tool_use` ids were found without" in text
        assert f"{len(screen.worklist.subjects)} contracts" in text


async def test_a_converted_request_is_shown_as_the_contract_gets_it() -> None:
    async with showing(broken()) as driver:
        screen = await matrix_of(driver)
        assert screen.worklist.subjects
        screen.contracts.move_to(screen.order.row_of(screen.worklist.subjects.index("openai")))
        await driver.press("k", "j")
        assert "Request · as openai-chat" in driver.text
        assert b'"tool_calls"' in screen.body.body


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40)])
async def test_enter_goes_to_the_fault_in_a_converted_request(size: tuple[int, int]) -> None:
    async with showing(broken(), size=size) as driver:
        screen = await matrix_of(driver)
        assert screen.worklist.subjects
        screen.contracts.move_to(screen.order.row_of(screen.worklist.subjects.index("openai")))
        await driver.press("k", "j", "enter")
        assert screen.body.has_focus
        assert "Request · as openai-chat" in driver.text
        await until(driver.pilot, lambda: "▌" in driver.text)
        await driver.press("tab")
        assert screen.contracts.has_focus


async def test_a_contract_that_cannot_be_asked_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = MatrixHistory.row

    def row(self: MatrixHistory, label: str) -> MatrixRow:
        if label == "anthropic":
            raise RuntimeError("out of order")
        return honest(self, label)

    monkeypatch.setattr(MatrixHistory, "row", row)
    async with showing(broken()) as driver:
        await driver.press("m")
        screen = driver.app.screen
        assert isinstance(screen, MatrixScreen)
        await until(driver.pilot, lambda: "cannot be checked: RuntimeError: out of order" in driver.text)
        await until(driver.pilot, lambda: len(screen.worklist.judgements) == len(screen.worklist.subjects or ()) - 1)


async def test_a_history_that_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise WorkbenchError("the contracts are gone")

    monkeypatch.setattr(MatrixHistory, "__init__", fails)
    async with showing(broken()) as driver:
        await driver.press("m")
        await until(driver.pilot, lambda: "the contracts are gone" in driver.text)


async def test_enter_goes_to_the_fault_in_the_session() -> None:
    async with showing(broken()) as driver:
        await matrix_of(driver)
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.focused == "wire")
        selection = driver.screen.pointer.selection
        assert selection and selection.pointer.startswith("/messages/1/content/2")


async def test_n_and_p_walk_through_those_who_do_not_accept() -> None:
    async with showing(broken()) as driver:
        screen = await matrix_of(driver)
        here = screen.cursor_number()
        await driver.press("]")
        assert screen.cursor_number() > here
        await driver.press("[")
        assert screen.cursor_number() == here
        await driver.press("[")
        assert "no earlier refusal" in driver.text


async def test_those_that_accept_are_one_row_until_they_are_asked_for() -> None:
    async with showing(broken("anthropic-thinking-trimmed")) as driver:
        screen = await matrix_of(driver)
        await driver.press("G")
        assert "other contracts accept" in driver.text and "accepted by these contracts" in driver.text
        accepting = screen.order.accepting
        await driver.press("e")
        assert "enter: list these contracts" in driver.text
        await driver.press("enter")
        assert screen.cursor_number() == accepting[0] and "other contracts accept" not in driver.text
        assert len(screen.order.rows) == len(screen.worklist.subjects or ())


async def test_the_contract_can_be_read() -> None:
    async with showing(broken()) as driver:
        await matrix_of(driver)
        await driver.press("e")
        assert isinstance(driver.app.screen, ContractPageScreen)
        await until(driver.pilot, lambda: "Refuses, in the order of its checks" in driver.text)
        await driver.press("escape")
        assert isinstance(driver.app.screen, MatrixScreen)


async def test_what_is_no_request_of_a_model_is_said_to_be_none() -> None:
    other = Exchange("e", HttpRequest(url="https://example.org/x", body=Body(b"{}")))
    async with showing(MemorySession("other", (other,))) as driver:
        await driver.press("m")
        await until(driver.pilot, lambda: NO_REQUEST[:30] in driver.text)


@pytest.mark.parametrize("size", [(80, 24), (60, 15)])
async def test_it_fits_and_leaves(size: tuple[int, int]) -> None:
    async with showing(broken(), size=size) as driver:
        await matrix_of(driver)
        assert "anthropic" in driver.text
        await driver.press("tab", "tab", "tab", "q")
        assert driver.screen
