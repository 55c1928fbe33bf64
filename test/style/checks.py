# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of the style lint that are not regular expressions: file names, predicates, documentation and widths.

Each function calls `report(rule, line number)` for each hit.
"""

import os
import re

from rules import COMMENT, DOC, STRING, TEST, TITLE

FILE = re.compile(r"(?<![\w/.%$*<>-])((?:[\w.+-]+/)*[A-Za-z_][\w-]*\.(?:h|hpp|cpp|td|def|cmake))\b(?![\w(*/-])")
PATH = re.compile(
    r"(?<![\w/.%$<{:*~-])((?:[A-Z][A-Za-z0-9]+/)+[A-Za-z][A-Za-z0-9]*|"
    r"(?:lib|runtime|tools|include|test)/[\w/]*\w)(?![\w/{%$*<-])"
)
INCLUDE = re.compile(r'(?m)^\s*#?\s*include\s*[<"]([^>"]+)[>"]')
# Files of other projects, and generated ones, that comments name and no source includes.
EXTERNAL = {
    "ze_api.h",
    "onnxruntime_c_api.h",
    "Python.h",
    "shim.h",
    "c_api.h",
    "dlpack.h",
    "hwcap.h",
    "try.cpp",
    "BuildId.cpp",
}


class Tree:
    """The names that a comment may mention: files and folders of the tree, and headers that the sources include."""

    def __init__(self, files, sources):
        self.names = {os.path.basename(path) for path in files}
        self.folders = {part for path in files for part in path.split("/")[:-1]}
        self.joined = ["/" + path for path in files]
        self.external = EXTERNAL | {os.path.basename(name) for source in sources for name in INCLUDE.findall(source)}

    def has_path(self, text):
        text = "/" + text.rstrip(".*/")
        return any(text in path for path in self.joined)

    def has_file(self, name):
        base = os.path.basename(name)
        if base in self.external or base.startswith(("dnnl", "_")) or len(base) <= 5:
            return True
        return base in self.names and ("/" not in name or self.has_path(re.sub(r"^(?:\.\./)+", "", name)))


def check_names(tree, path, unit, report):
    """missing-file, missing-path: a comment or page names a file or path that does not exist."""
    if unit.kind == STRING or path.startswith("docs/changes.md"):
        return
    for match in FILE.finditer(unit.text):
        if not tree.has_file(match.group(1)):
            report("missing-file", unit.number(match.start()))
    if unit.kind not in (COMMENT, DOC, TITLE):
        return
    for match in PATH.finditer(unit.text):
        name = match.group(1)
        is_pattern = re.match(r"\.\w|\.\*", unit.text[match.end() :])
        is_foreign = re.search(r"(?:mlir|llvm|oneapi|include/dnnl)/$", unit.text[: match.start()])
        if name.split("/")[0] in tree.folders and not tree.has_path(name) and not is_pattern and not is_foreign:
            report("missing-path", unit.number(match.start()))


def check_see(unit, report):
    """see-header: the whole header of a file is "See X.h."."""
    if unit.kind == COMMENT and unit.first < 9 and re.fullmatch(r"See \S+\.(?:h|hpp|td)\.", unit.text):
        report("see-header", unit.first)


def check_are(path, lines, report):
    """are-name: a predicate about one thing, a variable or a function of one parameter, is named are...."""
    if not path.endswith((".h", ".hpp", ".cpp")):
        return
    for number, text in enumerate(lines, 1):
        match = re.search(r"\bbool (?:\w+::)*are[A-Z]\w*\s*(?:\(([^()]*)\)?|[=;{,])", text)
        if match and "," not in (match.group(1) or ""):
            report("are-name", number)


def check_documented(path, lines, report):
    """undocumented: a function of the C interface has no comment directly before it."""
    if not re.match(r"include/quern/[^/]*\.h$", path):
        return
    for number, text in enumerate(lines, 1):
        if text.startswith("QUERN_API") and not lines[number - 2].strip().endswith("*/"):
            report("undocumented", number)


def check_long(path, lines, units, report):
    """long-line: prose of a page or of a lit test is wider than 120 columns."""
    if not path.endswith((".md", ".mlir", ".test")):
        return
    for number in sorted({number for unit in units if unit.kind in (DOC, TEST) for number, _ in unit.lines}):
        if len(lines[number - 1]) > 120 and not lines[number - 1].lstrip().startswith("|"):
            report("long-line", number)
