"""JUnit XML of ``check``, for build servers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Sequence

from workbench.cli._check.file_report import FileReport
from workbench.cli._check.formats import Errors, finding_lines, reasons, refused_for
from workbench.cli._output import write
from workbench.contracts import Finding, Severity
from workbench.safetext import visible


def junit(reports: Sequence[FileReport], errors: Errors) -> None:
    """Print JUnit XML: a suite for each file, a case for each exchange; errors fail, warnings are output."""
    root = ET.Element("testsuites", name="workbench check")
    for report in reports:
        _junit_suite(root, report)
    for error in errors:
        suite = ET.SubElement(root, "testsuite", name=_xml(error["path"]), tests="1", errors="1")
        case = ET.SubElement(suite, "testcase", name="readable", classname=_xml(error["path"]))
        ET.SubElement(case, "error", message=_xml(error["message"]))
    ET.indent(root)
    write(ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n")


def _junit_suite(root: ET.Element, report: FileReport) -> None:
    failing = {f.exchange for f in report.inspection.findings if f.severity is Severity.ERROR}
    found = defaultdict[int, list[Finding]](list)
    for finding in report.inspection.findings:
        found[finding.exchange].append(finding)
    rows, answered = report.inspection.rows, refused_for(report)
    name = _xml(report.path)
    suite = ET.SubElement(root, "testsuite", name=name, tests=str(len(rows)), failures=str(len(failing)))
    for row in rows:
        case = ET.SubElement(suite, "testcase", name=f"exchange {row.index + 1}", classname=name)
        own = found[row.index]
        broken = [f for f in own if f.severity is Severity.ERROR]
        if row in report.undecided_rows and not broken:
            ET.SubElement(case, "skipped", message=_xml("; ".join(reasons(row))))
        if broken:
            failure = ET.SubElement(case, "failure", message=_xml(broken[0].message), type=broken[0].rule)
            failure.text = _xml(*(line for f in broken for line in finding_lines(f, answered.get(row.index))))
        rest = [line for f in own if f.severity is not Severity.ERROR for line in finding_lines(f)]
        if rest:
            ET.SubElement(case, "system-out").text = _xml(*rest)


def _xml(*lines: str) -> str:
    """Lines as text for XML 1.0, with control characters and surrogates made visible."""
    return "\n".join(map(visible, lines))
