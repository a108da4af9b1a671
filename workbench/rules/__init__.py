"""Rules: what is wrong with a chain under a provider's contract.

One file per family. A family module has ``RULES`` (its ``Rule`` values) and ``check(case)``, which yields findings.
Each rule has a page in ``pages/SLUG.yaml``. Files that begin with an underscore are the machinery.
"""

from __future__ import annotations

from workbench.rules._case import Case, Rule
from workbench.rules._contract import Contract, Enforced, Fact
from workbench.rules._finding import Edit, Finding, Repair, Severity

__all__ = ["Case", "Contract", "Edit", "Enforced", "Fact", "Finding", "Repair", "Rule", "Severity"]
