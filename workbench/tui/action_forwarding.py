"""Actions of a screen that an object it holds carries out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ActionOf:
    """``action_NAME`` of a screen as the method ``NAME`` of one of its parts; Textual finds it as any action.

    Args:
        part: the attribute of the screen that holds the object.
        method: the method, if it is not called like the action.
    """

    def __init__(self, part: str, method: str = "") -> None:
        self._part, self._method = part, method

    def __set_name__(self, owner: type, name: str) -> None:
        self._method = self._method or name.removeprefix("action_")

    def __get__(self, screen: object | None, owner: type) -> Callable[..., Any]:
        """The method of the part; of the class, a function of its name (help and tests ask whether it is there)."""
        if screen is None:
            return lambda screen, *arguments: getattr(getattr(screen, self._part), self._method)(*arguments)
        method: Callable[..., Any] = getattr(getattr(screen, self._part), self._method)
        return method


class ActionOnInspected(ActionOf):
    """An action that needs the result of the inspection; ``updates.waits`` of the screen says if it is missing."""

    def __get__(self, screen: Any, owner: type) -> Callable[..., Any]:
        """The method of the part, behind the question whether it can act."""
        method = super().__get__(screen, owner)
        if screen is None:
            return method
        return lambda *arguments: None if screen.updates.waits() else method(*arguments)
