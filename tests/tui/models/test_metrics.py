from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.rules.metrics.tool_use_counts import Counts
from workbench.safetext import cells
from workbench.tui.models import metrics
from workbench.tui.models.metrics import CACHED, PARTS, ChartRow
from workbench.tui.models.signs import SIGNS
from workbench.views.lines import plain
from workbench.views.words import RATES, money, share_of

SCALE = metrics.ChartScale(1.0)
TOKENS = st.tuples(*[st.integers(0, 10**7)] * len(PARTS))


@given(TOKENS, st.integers(10, 120))
def test_a_bar_is_as_long_as_its_share_and_shows_everything_there_is(tokens: tuple[int, ...], width: int) -> None:
    most = sum(tokens)
    bar = "".join(span.text for span in metrics.token_bar(tokens, 0, most, width))
    assert len(bar) == (width if most else 0)
    assert [part.sign in bar for part in PARTS] == [n > 0 for n in tokens]
    half = "".join(span.text for span in metrics.token_bar(tokens, 0, 2 * most, 2 * width))
    assert len(half) == len(bar)


@given(TOKENS, st.data(), st.integers(10, 120))
def test_the_mark_of_the_cache_takes_the_place_of_one_column(
    tokens: tuple[int, ...], data: st.DataObject, width: int
) -> None:
    cached = data.draw(st.integers(0, sum(tokens[:-1])))
    bar = "".join(span.text for span in metrics.token_bar(tokens, cached, sum(tokens), width))
    assert bar.count(CACHED) == (1 if cached else 0)
    assert len(bar) == (width if sum(tokens) else 0)


def test_every_part_and_rate_has_a_sign_a_word_and_a_count() -> None:
    assert len({part.sign for part in PARTS}) == len(PARTS)
    explained = {words[2:]: sign for words, sign in ((each[0], each[0][0]) for each in SIGNS.values())}
    assert all(explained[part.name] == part.sign for part in PARTS), "the help shows the signs of the bars"
    for rate in RATES:
        assert share_of(rate, Counts()) == (0, 0)
    told = Counts(calls=4, parsed=3, fitting=2, blocked=1, executed=3)
    shares = {rate.name: share_of(rate, told) for rate in RATES}
    assert (shares["parsed"], shares["fitting"], shares["blocked"]) == ((3, 4), (2, 4), (1, 4))


def test_rows_fit_and_say_what_is_not_known() -> None:
    items = [
        ChartRow("a" * 60, (10**9,) * len(PARTS), 10**9, 12345.6789, session=0),
        ChartRow("unpriced", (1,) * len(PARTS), 0, None, is_counted=False, session=0),
        ChartRow("torn", (0,) * len(PARTS), trouble="it cannot be read", session=0),
        ChartRow("silent", (0,) * len(PARTS), session=0),
        *metrics.of_groups({"": Counts(exchanges=2, calls=10**6, parsed=10**6)}),
    ]
    for width in (60, 78, 200):
        for view in ("tokens", "cost"):
            shown = [plain(metrics.row(item, view, metrics.scale_of(items, view, width), width)) for item in items]
            assert all(cells(text.rstrip()) <= width + 60 for text in shown)
            assert "it cannot be read" in shown[2] and "no exchange" in shown[3]
        assert "no price known" in plain(metrics.row(items[1], "cost", SCALE, width))
    assert "(not known)" in plain(metrics.row(items[4], "rates", SCALE, 78))
    assert "no model responses to count" in plain(metrics.row(items[-2], "rates", SCALE, 78))
    assert "0/2" in plain(metrics.row(items[-1], "rates", SCALE, 78))


def test_money_is_never_rounded_to_nothing() -> None:
    assert [money(n) for n in (0.0, 0.00001, 0.0123, 123.456)] == ["$0.0000", "<$0.0001", "$0.0123", "$123.46"]


def test_a_bar_that_is_too_short_for_all_parts_leaves_out_the_smallest() -> None:
    bar = metrics.token_bar((20, 290, 180, 5, 26, 64), 0, 585, 3)
    assert cells(plain(bar)) == 3
    assert [span.text for span in bar] == [PARTS[n].sign for n in (1, 2, 5)]
