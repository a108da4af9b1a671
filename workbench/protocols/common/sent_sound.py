"""Sound that a client sends: whether the server reacts to it, and whether it is as long as the time that it takes.

Sound without a pause takes as long to send as to hear. Fewer bytes a second than its stated format has mean another
format: the telephone's 8 kHz in a session of 24 kHz is heard as noise (openai-agents-js pull request 1366).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator

from workbench.named_tuple import NamedTuple
from workbench.protocols.common.socket_facts import SocketFact

_LOUD = 2_000
"""Peak of 16-bit samples from which a piece is as loud as speech; a quiet room stays below 500."""

_LOUD_EXPONENT = 4
"""Exponent of a G.711 sample with the same peak (ITU-T G.711)."""

_LOUD_SAMPLES = {flip: bytes(b for b in range(256) if ((b ^ flip) >> 4) & 7 >= _LOUD_EXPONENT) for flip in (0xFF, 0x55)}

_SPEECH = 4.0
"""Seconds of loud sound that a server which detects speech reacts to: a person says a sentence in less."""

_SILENCE = 10.0
"""Seconds without a reaction."""

_PAUSE = 0.5
"""Seconds between two pieces from which sound is not continuous."""

_LEAST_RUN = 4.0
"""Seconds of continuous sound whose pace is measured."""

_TOLERANCE = 0.06
"""Relative error of a measured pace."""

_PACES = {8_000: "G.711", 16_000: "PCM at 8 kHz", 32_000: "PCM at 16 kHz", 48_000: "PCM at 24 kHz"}
"""Bytes a second → format."""


class SoundFormat(NamedTuple):
    """A format that a client states.

    Attributes:
        width: bytes of a sample.
        rate: samples a second.
        flip: mask of the bits that are inverted (G.711: 0xFF for µ-law, 0x55 for A-law); 0 for PCM.
    """

    width: int
    rate: int
    flip: int = 0

    @property
    def pace(self) -> int:
        """Bytes a second."""
        return self.width * self.rate

    def is_loud(self, data: bytes) -> bool:
        """A piece has a sample as loud as speech."""
        if self.flip:
            return len(data.translate(None, _LOUD_SAMPLES[self.flip])) < len(data)
        samples = array("h", data[: len(data) & ~1])
        if sys.byteorder == "big":
            samples.byteswap()
        return bool(samples) and max(max(samples), -min(samples)) >= _LOUD


class SentSound:
    """The sound of one connection since the last reaction of the server."""

    def __init__(self) -> None:
        self._first_loud: tuple[int, float] | None = None  # message and time
        self._loud = 0.0  # seconds
        self._run: tuple[int, float] | None = None  # message and time in which continuous sound began
        self._last_at = 0.0
        self._bytes = 0  # of the run, without the last piece
        self._last_bytes = 0
        self._format: SoundFormat | None = None
        self._slow: SocketFact | None = None

    def add(self, number: int, at: float, data: bytes, form: SoundFormat | None) -> None:
        """Take a piece of sound; one in an unknown format ends what was measured."""
        if form is None or form != self._format or at - self._last_at > _PAUSE:
            self._run, self._bytes, self._last_bytes, self._format = (number, at), 0, 0, form
        if form is None:
            return
        if form.is_loud(data):
            self._first_loud = self._first_loud or (number, at)
            self._loud += len(data) / form.pace
        self._bytes += self._last_bytes
        self._last_bytes, self._last_at = len(data), at
        self._measure(number, form)

    def react(self) -> None:
        """Note that the server reacts to the user, or speaks."""
        self._first_loud, self._loud = None, 0.0

    def _measure(self, number: int, form: SoundFormat) -> None:
        """Compare the pace of continuous sound with that of its format."""
        first, begin = self._run or (number, self._last_at)
        seconds = self._last_at - begin
        if seconds < _LEAST_RUN:
            return
        self._slow = None
        pace = self._bytes / seconds
        for other, name in _PACES.items():
            if other < form.pace * (1 - 2 * _TOLERANCE) and abs(pace / other - 1) <= _TOLERANCE:
                text = f"messages {first + 1} to {number + 1} send {pace:,.0f} bytes of sound a second, as {name} has,"
                text += f" but the stated format has {form.pace:,}: the server hears noise"
                self._slow = SocketFact("params.conflict", text, (first, number), is_harmless=True)

    def facts(self, at: float, *, is_heard_by_itself: bool) -> Iterator[SocketFact]:
        """Sound in another format than the stated one, and loud sound without a reaction.

        Args:
            at: time of the newest message.
            is_heard_by_itself: the server has to detect speech.
        """
        if self._slow:
            yield self._slow
        if self._first_loud and is_heard_by_itself and self._loud >= _SPEECH and at - self._first_loud[1] >= _SILENCE:
            number, begin = self._first_loud
            text = (
                f"from message {number + 1} on, the client sent {self._loud:.0f} s of sound as loud as speech, and the"
            )
            text += f" server sent nothing about it for {at - begin:.0f} s: it detects no speech, or does not respond"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
