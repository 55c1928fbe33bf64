# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the prose of a file: comments, doc strings, paragraphs, table cells and string literals, as units of text."""

import bisect
import collections
import io
import os
import re
import tokenize

from rules import COMMENT, DOC, HEADING, STRING, TEST, TITLE

CXX = {".h", ".hpp", ".cpp", ".c", ".def", ".td", ".inc", ".js", ".css", ".cl"}
HASH = {".py", ".pyi", ".sh", ".cmake", ".txt", ".desc", ".in", ".toml", ".cfg", ".supp"}
LIT = {".mlir", ".test", ".ll"}


class Unit(collections.namedtuple("Unit", "kind lines text first")):
    """One comment, paragraph, cell or string. `lines` has (line number, offset in text) for each line."""

    def number(self, offset):
        """Returns the number of the line that has this offset of the text."""
        return max(number for number, begin in self.lines if begin <= offset)


class Builder:
    """Joins consecutive lines of one comment or paragraph, so that a phrase may go over a line's end."""

    def __init__(self):
        self.units, self.kind, self.lines, self.text = [], None, [], ""

    def add(self, kind, number, text, new=False):
        text = text.strip()
        if new or kind != self.kind:
            self.end()
        if not text:
            self.end()
            return
        self.kind = kind
        if self.text:
            self.text += " "
        self.lines.append((number, len(self.text)))
        self.text += text

    def end(self):
        if self.text:
            self.units.append(Unit(self.kind, self.lines, self.text, self.lines[0][0]))
        self.kind, self.lines, self.text = None, [], ""


CXX_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?<![A-Za-z0-9_])R"([^(\s"]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\[^\n']+|[^'\\\n])'",
    re.S,
)


def scan_cxx(source):
    """(kind, line, column, text, code before it on the line) of comments and string literals."""
    starts = [0] + [m.end() for m in re.finditer("\n", source)]
    for m in CXX_TOKEN.finditer(source):
        text, row = m.group(), bisect.bisect_right(starts, m.start()) - 1
        column = m.start() - starts[row]
        code = bool(source[starts[row] : m.start()].strip())
        if text.startswith("//"):
            yield COMMENT, row + 1, column, text, code
        elif text.startswith("/*"):
            for k, part in enumerate(text.split("\n")):
                yield COMMENT, row + 1 + k, column if k == 0 else 0, ("/*" if k == 0 else " *~") + part, code and k == 0
        elif text.startswith('"'):
            yield STRING, row + 1, column, text[1:-1], True


def read_cxx(path, source):
    out, last, product = Builder(), (0, 0), not path.startswith("test/")
    for kind, line, column, text, code in scan_cxx(source):
        if kind == STRING:
            if (
                product
                and text.count(" ") >= 3
                and re.search(r"[a-z]{3} [a-z]", text)
                and not re.search(r"#include|::|%[a-z]+ =", text)
            ):
                out.add(STRING, line, text, new=True)
            continue
        block = text.startswith((" *~", "/*"))
        body = re.sub(r"^(?:/\*+(?:/\*+)?[!<]*|//+[!<]*| \*~\s*\*?(?!/))|\*+/\s*$", "", text)
        if re.match(r"\s*(?:clang-format|NOLINT|IWYU|namespace\b|extern \"C\"|QUERN_\w+_H\b)", body) or re.search(
            r"SPDX|Part of Quern", body
        ):
            out.end()
            continue
        if "===" in body:
            out.end()
            name = re.sub(r"-\*-.*-\*-|[-=*]{2,}|^\s*\S+\.\w+ - |===-", " ", body.strip().lstrip("=-* ")).strip("-=* ")
            out.add(TITLE, line, re.sub(r"^\S+\.\w+ - ", "", name), new=True)
            out.end()
            continue
        if body.strip().startswith("---") or re.fullmatch(r"[\s\-=*/]*|\s*\w+=\s*", body):
            out.end()
            continue
        if (
            re.search(r"[;{}]\s*$", body)
            and re.search(r"[()=]|\b(?:int|auto|return)\b", body)
            and not re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", body)
        ):
            continue  # code in a comment
        joined = (line == last[0] + 1 and (block or (column == last[1] and not code))) and (code is False)
        out.add(COMMENT, line, body, new=not joined)
        last = (line, column)
    if path.endswith(".td"):
        for m in re.finditer(r"(?:description|summary) = \[\{(.*?)\}\]", source, re.S):
            first = source.count("\n", 0, m.start(1)) + 1
            for k, text in enumerate(m.group(1).split("\n")):
                out.add(COMMENT, first + k, text)
            out.end()
    out.end()
    return out.units


def read_hash(path, source):
    out = Builder()
    if path.endswith((".py", ".pyi")):
        last = 0
        try:
            previous = None
            for token in tokenize.generate_tokens(io.StringIO(source).readline):
                number, text = token.start[0], token.string
                if (
                    token.type == tokenize.COMMENT
                    and not text.startswith("#!")
                    and not re.search(r"SPDX|Part of Quern|noqa|type:|pylint", text)
                ):
                    own = not token.line[: token.start[1]].strip()
                    out.add(COMMENT, number, text.lstrip("# "), new=not (own and number == last + 1))
                    last = number if own else 0
                elif (
                    token.type == tokenize.STRING
                    and text.lstrip("rRbBuU").startswith('"""')
                    and (previous in (None, tokenize.NEWLINE, tokenize.INDENT, tokenize.NL, tokenize.ENCODING))
                ):
                    for k, part in enumerate(text.strip('rRuU"').split("\n")):
                        if not re.match(r"\s{2,}\S*(?:tools|test|build|docs|#|\$|>>>|--)", part):
                            out.add(COMMENT, number + k, part)
                        else:
                            out.end()
                    out.end()
                if token.type not in (tokenize.COMMENT, tokenize.NL):
                    previous = token.type
        except (tokenize.TokenError, IndentationError, SyntaxError):
            pass
    else:
        last = 0
        for number, text in enumerate(source.split("\n"), 1):
            m = "#" in text and (re.match(r"(\s*)#(?!!)\s?(.*)$", text) or re.match(r"([^'\"#]*\s)#\s(.*)$", text))
            if (
                not m
                or re.search(r"SPDX|Part of Quern|shellcheck", text)
                or re.match(r"#{2,}|-{3,}|\s*(?:tools|build|cmake)/", m.group(2))
            ):
                out.end()
                continue
            own = not m.group(1).strip()
            out.add(COMMENT, number, m.group(2), new=not (own and number == last + 1))
            last = number if own else 0
    out.end()
    return out.units


DIRECTIVE = re.compile(
    r"^\W*(?:RUN|REQUIRES|UNSUPPORTED|XFAIL|DEFINE|REDEFINE|ALLOW_RETRIES|END|[A-Z][A-Z0-9_]*)"
    r"(?:[-_][A-Z0-9]+)*(?:\{[A-Z,]*\})?:"
)


def read_lit(path, source):
    lines = source.split("\n")
    mark = (
        r"//"
        if path.endswith(".mlir") or re.search(r"(?m)^// ?(?:RUN|[A-Za-z])", source)
        else r"[#;]" if re.search(r"(?m)^[#;] ?[A-Za-z]", source) else None
    )
    out, skip = Builder(), False
    for number, text in enumerate(lines, 1):
        if re.match(r"\s*(?://|#|;)?\s*-{3,}\s*\S+", text) and mark is None or re.match(r"(?://|#|;)---", text):
            break  # split-file: what comes is a file's text
        m = re.match(r"\s*(?:%s)+\s?(.*)$" % mark, text) if mark else re.match(r"()(.*)$", text)
        body = m.group(m.lastindex) if m else None
        if body is None or skip or DIRECTIVE.match(body) or re.search(r"SPDX|Part of Quern|===", body):
            skip = bool(m) and body.rstrip().endswith("\\") and (skip or bool(DIRECTIVE.match(body)))
            out.end()
            continue
        out.add(TEST, number, body)
    out.end()
    return out.units


def read_markdown(path, source):
    out, fence, blank, lists = Builder(), None, True, False
    lines = source.split("\n")
    for number, text in enumerate(lines, 1):
        bare = text.strip()
        m = re.match(r"\s*(```+|~~~+)", text)
        if m or fence:
            if m and (fence is None or m.group(1).startswith(fence)):
                fence = None if fence else m.group(1)
            out.end()
            continue
        if (text.startswith("    ") and blank and not lists) or bare.startswith(("<!--", "$$", "![")):
            out.end()
            continue
        if bare.startswith("|"):
            is_head = (
                re.fullmatch(r"[\s|:-]+", lines[number]) if number < len(lines) and lines[number].strip() else False
            )
            for cell in re.split(r"(?<!\\)\|", bare.strip("|")):
                if not re.fullmatch(r"[\s:-]*", cell):
                    out.add(HEADING if is_head else DOC, number, cell, new=True)
            out.end()
        elif bare.startswith("#"):
            out.add(HEADING, number, bare.lstrip("# "), new=True)
            out.end()
        else:
            item = re.match(r"\s*(?:[-*+]|\d+\.)\s+(.*)$", text)
            lists = bool(item) or (lists and bool(bare)) or (lists and text.startswith("  "))
            out.add(DOC, number, item.group(1) if item else bare, new=bool(item))
        blank = not bare
    out.end()
    return out.units


def reader_of(path):
    base, ext = os.path.basename(path), os.path.splitext(path)[1]
    if ext == ".md":
        return read_markdown
    if ext in LIT:
        return read_lit
    if ext in CXX:
        return read_cxx
    if ext in HASH or base in ("CMakeLists.txt", "run"):
        return read_hash
    return None
