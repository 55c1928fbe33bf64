#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ratios.py TABLES PICTURE: draws docs/pictures/ratios.svg from docs/performance-tables.md.

Each row of the picture is a family of problems. A point is the geometric mean of the times of a library divided by
Quern's, a line the range over the problems. Times are minima on one thread. Softmax and reorder are without the
problems that oneDNN leaves to its reference code. oneDNN is version 3.13, and for RNNs the faster of 3.13 and 3.2.
"""

import html
import math
import re
import sys

LIBRARIES = {"onednn": "oneDNN", "onnxruntime": "ONNX Runtime", "jax": "JAX", "torch": "PyTorch"}
SECTIONS = {
    "Softmax, one thread": "softmax",
    "Reorder, one thread": "reorder",
    "RNN, one thread": "rnn",
    "RNN beside ONNX Runtime, one thread": "rnn beside",
    "Training of RNNs, one thread": "rnn training",
}
FAMILIES = (
    "softmax, last axis",
    "softmax, other axes and layouts",
    "softmax, 8- and 16-bit types",
    "softmax, backward",
    "reorder, transpose",
    "reorder, blocked layouts",
    "reorder, packed weights",
    "reorder, convert and quantize",
    "small tensors, less than 1 µs",
    "RNN inference, one sequence",
    "RNN inference, batches",
    "RNN training, f32",
)

LEFT, RIGHT, TOP, ROW, WIDTH = 300, 770, 112, 32, 860
LEAST, MOST = 0.5, 256  # ends of the axis
STYLE = """
svg{font:13px system-ui,sans-serif;--back:#fff;--text:#1f2328;--soft:#59636e;--grid:#d8dee4;--equal:#1f2328;
--onednn:#0a58ca;--onnxruntime:#b54708;--jax:#7a3e9d;--torch:#1a7f37}
@media (prefers-color-scheme:dark){svg{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--grid:#30363d;--equal:#e6edf3;
--onednn:#58a6ff;--onnxruntime:#f0883e;--jax:#d2a8ff;--torch:#56d364}}
.back{fill:var(--back)}text{fill:var(--text)}.soft{fill:var(--soft)}text.onednn{stroke:none}
.title{font-size:17px;font-weight:600}
.grid{stroke:var(--grid)}.equal{stroke:var(--equal);stroke-width:1.5}.range{stroke-width:3;stroke-opacity:.45}
.onednn{fill:var(--onednn);stroke:var(--onednn)}.onnxruntime{fill:var(--onnxruntime);stroke:var(--onnxruntime)}
.jax{fill:var(--jax);stroke:var(--jax)}.torch{fill:var(--torch);stroke:var(--torch)}
""".replace("\n", "")


def minimum(cell):
    """Returns the first number of "minimum / median", or None."""
    found = re.match(r"[\d.]+", cell)
    return float(found[0]) if found else None


def problems_of(text):
    """Yields (section, title, Quern's µs, {library: ratio}, whether oneDNN used its reference code)."""
    for name, section in SECTIONS.items():
        if f"\n## {name}\n" not in text:
            sys.exit(f"ratios.py: the tables have no section '{name}'")
        part = text.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]
        table = re.search(r"(?:^\|.*\n)+", part, re.M)[0].splitlines()
        header, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
        for row in rows[1:]:
            cells = dict(zip(header, row))
            ratios = {}
            for column, cell in cells.items():
                ratio = minimum(cell) if column.startswith("vs ") else None
                library = column[3:].split("-")[0]
                if ratio and library in LIBRARIES:
                    ratios[library] = min(ratio, ratios.get(library, ratio))
            is_reference = "(ref)" in cells.get("onednn-3.13", "")
            yield section, cells["problem"], minimum(cells["Quern"]), ratios, is_reference


def family_of(section, title, time):
    """Returns the family of a problem of quern-bench by its title, such as "bwd f32 log 32x64x56x56 axis 1 acdb"."""
    if section == "rnn training":
        return "RNN training, f32"
    if section.startswith("rnn"):
        return "RNN inference, one sequence" if re.search(r"\bN1 ", title) else "RNN inference, batches"
    if time < 1:
        return "small tensors, less than 1 µs"
    problem, _, attributes = title.partition(" + ")
    types = re.findall(r"\b(?:f|bf|s|u)\d+(?:_\w+)?\b", problem.removeprefix("bwd ").split(" ")[0])
    if section == "softmax":
        if title.startswith("bwd "):
            return "softmax, backward"
        if any(re.match(r"bf16|f16|f8|s8|u8", name) for name in types):
            return "softmax, 8- and 16-bit types"
        is_last = re.fullmatch(r"f\d+ (?:[a-z_]+ )?[\dx]+", problem)
        return "softmax, last axis" if is_last else "softmax, other axes and layouts"
    layouts = " ".join(problem.split(" ")[2:])  # such as "abcd→aBcd16b"
    if re.search("A|abdec", layouts):  # blocks of the first dim, and weights of RNNs
        return "reorder, packed weights"
    if len(set(types)) > 1 or attributes:
        return "reorder, convert and quantize"
    return "reorder, blocked layouts" if re.search("[B-Z]", layouts) else "reorder, transpose"


def families_of(text):
    """Returns {family: {library: [ratios]}}."""
    families = {family: {} for family in FAMILIES}
    for section, title, time, ratios, is_reference in problems_of(text):
        if is_reference and section in ("softmax", "reorder"):
            continue
        for library, ratio in ratios.items():
            if section == "rnn beside" and library == "onednn":
                continue  # the table "RNN, one thread" also has it
            families[family_of(section, title, time)].setdefault(library, []).append(ratio)
    return families


def x_of(ratio):
    return LEFT + (RIGHT - LEFT) * math.log(ratio / LEAST) / math.log(MOST / LEAST)


def text_at(x, y, words, kind="", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def line(kind, x1, y1, x2, y2):
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def mean_of(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def picture_of(families):
    bottom = TOP + ROW * len(families)
    height = bottom + 72
    marks = [
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        text_at(16, 28, "How many times as fast as other libraries Quern is", "title"),
        text_at(16, 50, "One thread of an AMD EPYC with AVX-512. Point: geometric mean. Line: range over the problems.",
                "soft"),
    ]
    x = 20
    for library, name in LIBRARIES.items():
        marks += [f'<circle class="{library}" cx="{x}" cy="72" r="5"/>', text_at(x + 10, 76.5, name)]
        x += 34 + 8 * len(name)
    marks += [text_at(x_of(1) - 8, TOP - 10, "← slower", "soft", "end"),
              text_at(x_of(1) + 8, TOP - 10, "Quern is faster →", "soft"),
              text_at(WIDTH - 16, TOP - 10, "oneDNN", "onednn", "end")]
    tick = LEAST
    while tick <= MOST:
        marks += [line("equal" if tick == 1 else "grid", x_of(tick), TOP, x_of(tick), bottom),
                  text_at(x_of(tick), bottom + 18, f"{tick:g}", "", "middle")]
        tick *= 2
    marks += [text_at((LEFT + RIGHT) / 2, bottom + 40, "times as fast as the library (its time / Quern's time)", "",
                      "middle"),
              text_at(16, bottom + 62, "In parentheses: number of problems. Softmax and reorder are without those that "
                      "oneDNN leaves to its reference code.", "soft")]
    for at, (family, libraries) in enumerate(families.items()):
        middle = TOP + ROW * (at + 0.5)
        count = max(map(len, libraries.values()))
        marks.append(text_at(LEFT - 12, middle + 4.5, f"{family} ({count})", "", "end"))
        marks.append(text_at(WIDTH - 16, middle + 4.5, f"{mean_of(libraries['onednn']):.2g}×", "", "end"))
        for place, library in enumerate(name for name in LIBRARIES if name in libraries):
            ratios = libraries[library]
            y = middle + 9 * (place - (len(libraries) - 1) / 2)
            mean = mean_of(ratios)
            title = f"{family}: {mean:.2f} times as fast as {LIBRARIES[library]} ({min(ratios)} to {max(ratios)})"
            marks.append(f"<g><title>{html.escape(title)}</title>"
                         + line(f"range {library}", x_of(min(ratios)), y, x_of(max(ratios)), y)
                         + f'<circle class="{library}" cx="{x_of(mean):.1f}" cy="{y:.1f}" r="4.5"/></g>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
            f"<style>{STYLE}</style>\n" + "\n".join(marks) + "\n</svg>\n")


def main():
    with open(sys.argv[1], encoding="utf-8") as tables:
        families = families_of(tables.read())
    every = [ratio for libraries in families.values() for ratios in libraries.values() for ratio in ratios]
    if min(every) < LEAST or max(every) > MOST:
        sys.exit(f"ratios.py: the ratios are from {min(every)} to {max(every)}; the axis is from {LEAST} to {MOST}")
    with open(sys.argv[2], "w", encoding="utf-8") as picture:
        picture.write(picture_of(families))


if __name__ == "__main__":
    main()
