"""Parquet exports are read as the store that their columns are of; without DuckDB the error says what to install."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.formats.importers.store_samples import (
    APIM,
    HELICONE,
    LANGFUSE,
    LANGFUSE_SPAN,
    LANGSMITH,
    LANGSMITH_CHAIN,
    LITELLM,
    OTEL_ROW,
    PHOENIX_FRAME,
    SPEND_ROW,
    lines,
    one,
)
from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input
from workbench.rules import Inspector

TABLES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "apim": ("Azure API Management log", APIM),
    "helicone": ("Helicone export", [HELICONE]),
    "langfuse": ("Langfuse export", [LANGFUSE, LANGFUSE_SPAN]),
    "langsmith": ("LangSmith export", [LANGSMITH, LANGSMITH_CHAIN]),
    "litellm": ("LiteLLM log", [LITELLM]),
    "otel": ("OpenTelemetry spans (table)", [OTEL_ROW]),
    "phoenix": ("Phoenix spans", [PHOENIX_FRAME]),
    "spend": ("LiteLLM spend log", [SPEND_ROW]),
}


def parquet(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """The rows as DuckDB writes them: structs, lists and timestamps are typed columns."""
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB: pip install 'agent-workbench[scale]'")
    source, out = folder / f"{name}.jsonl", folder / f"{name}.parquet"
    source.write_bytes(lines(*rows))
    with duckdb.connect() as base:
        base.execute(f"COPY (SELECT * FROM read_json('{source}')) TO '{out}' (FORMAT parquet)")
    return out


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_its_store(name: str, tmp_path: Path) -> None:
    title, rows = TABLES[name]
    session = open_input(str(parquet(tmp_path, name, rows)))
    assert getattr(session, "format", "") == title
    found = Inspector(session).run().findings
    assert {finding.rule for finding in found} - {"contract.disagrees"} == {"closure.missing-result"}


def test_a_table_from_a_pipe_is_read_from_a_copy_that_is_removed(tmp_path: Path) -> None:
    import io
    import tempfile

    data = parquet(tmp_path, "litellm", [LITELLM]).read_bytes()
    before = set(Path(tempfile.gettempdir()).glob("workbench-*.parquet"))
    assert len(open_input("-", stdin=io.BytesIO(data))) == 1
    assert set(Path(tempfile.gettempdir()).glob("workbench-*.parquet")) == before


def test_a_table_of_no_store_names_its_columns(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="a table from an unknown store with the columns city, people"):
        open_input(str(parquet(tmp_path, "other", [{"city": "Paris", "people": 2}])))


def test_a_torn_table_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path, "litellm", [LITELLM])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UnreadableInput, match="an incomplete Parquet file"):
        open_input(str(path))


def test_without_duckdb_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1\x15\0" + one(LITELLM) + b"PAR1")
    with pytest.raises(UnreadableInput, match="reading Parquet needs DuckDB"):
        open_input(str(path))
