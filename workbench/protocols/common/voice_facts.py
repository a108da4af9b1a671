"""What a connection of speech shows apart from its turns, on every protocol that has such connections."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from workbench.protocols.common.context_counts import ContextCounts
from workbench.protocols.common.interruptions import Interruptions
from workbench.protocols.common.open_calls import OpenCalls
from workbench.protocols.common.repeats import Repeats
from workbench.protocols.common.sent_sound import SentSound
from workbench.protocols.common.socket_facts import SocketFact
from workbench.protocols.common.spoken_audio import SpokenAudio


class VoiceFacts:
    """Sound, calls, repeats, counts and interruptions of one connection."""

    def __init__(self) -> None:
        self.sound = SentSound()
        self.calls = OpenCalls()
        self.repeats = Repeats()
        self.counts = ContextCounts()
        self.interruptions = Interruptions()
        self.speech = SpokenAudio()

    def facts(self, at: float, named: Collection[str | None] = (), *, is_heard_by_itself: bool) -> Iterator[SocketFact]:
        """All of them, as for ``SentSound.facts`` and ``OpenCalls.facts``."""
        yield from self.sound.facts(at, is_heard_by_itself=is_heard_by_itself)
        yield from self.calls.facts(at, named)
        yield from self.repeats.facts()
        yield from self.counts.facts()
        yield from self.interruptions.facts()
        yield from self.speech.facts()
