"""Signs by which an exchange shows whose provider or server it is with."""

from __future__ import annotations

from workbench.contracts.reader import Node
from workbench.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """Header or field that only the exchanges of one provider or server have.

    Attributes:
        header, field: name of a response header (in lower case), or of a top-level field of the response body.
        request_field: name of a top-level field of the request body. Of these three, two are "".
        value: glob of its value; "" for any.
        model: glob of the model that the request names; "" for any.
    """

    header: str = ""
    field: str = ""
    value: str = ""
    request_field: str = ""
    model: str = ""

    @property
    def words(self) -> str:
        """``the header server``."""
        return f"the header {self.header}" if self.header else f"the field {self.field}"


def read_sign(node: Node) -> Sign:
    """A sign of a contract file. Raises ProfileError."""
    node.only("header", "field", "request-field", "is", "model", "note")
    sign = Sign(
        header=node.get("header").text("").lower(),
        field=node.get("field").text(""),
        value=node.get("is").text(""),
        request_field=node.get("request-field").text(""),
        model=node.get("model").text(""),
    )
    if sum(map(bool, (sign.header, sign.field, sign.request_field))) != 1:
        raise node.fail("give one of header, field and request-field")
    return sign
