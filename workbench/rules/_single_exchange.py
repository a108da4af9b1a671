"""One exchange read and judged by itself, before a pass over the session reaches it.

The result is provisional: what came before in the conversation is not known, so reasoning has no origin, and nothing is
compared with an earlier request. The result of the pass replaces it.
"""

from __future__ import annotations

from workbench.lazy_dataclass import replace
from workbench.protocols import DecodedExchange
from workbench.rules.inspection import Detail, InspectedExchange, Inspector


def decode_alone(inspector: Inspector, index: int) -> Detail:
    """One exchange in full, without findings.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
    """
    alone, session = _empty(inspector), inspector.session
    decoded = DecodedExchange(index, session.exchange(index), alone.protocol, among=alone._among())
    row, choice = alone._row(decoded), alone._contract(decoded)
    conversation = alone._conversations.add(decoded) if decoded.protocol else None
    case = alone._case(decoded, choice, conversation.id if conversation else None)
    if decoded.protocol:
        row = replace(row, provider=case.contract.label, provider_from=choice.how)
    if conversation:
        row = replace(row, conversation=conversation.id)
    return Detail(row, decoded, case.contract, case.closure, case.ledger, session.about)


def judge_alone(inspector: Inspector, index: int) -> InspectedExchange:
    """Row of one exchange, with findings that belong to no cause of the session."""
    alone = _empty(inspector)
    row = alone._inspect(index, alone._read(index))
    return replace(row, findings=tuple(replace(finding, cause=None) for finding in row.findings))


def _empty(inspector: Inspector) -> Inspector:
    return Inspector(inspector.session, inspector.provider, inspector.protocol, known=None)
