# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""constraints.py ROOT NAME TEST...: page, verifier's list, messages and unit tests name the same constraints of a primitive."""
import pathlib
import re
import sys

root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
folder = root / "lib/Primitives" / name.capitalize()


def read(path):
    return path.read_text(encoding="utf-8")


page, verifier = read(root / f"docs/primitives/{name}.md"), read(folder / "Verify.cpp")
messages = "".join(read(path) for path in sorted(folder.glob("Verify*.cpp")))
test = "".join(read(root / "test/unit" / path) for path in sys.argv[3:])


def numbers(pattern, text):
    return sorted({int(number) for number in re.findall(pattern, text, re.MULTILINE)})


documented = numbers(r"^\| C(\d+) \|", page)
everything = list(range(1, len(documented) + 1))
checks = [
    ("the page numbers its constraints without gaps", documented, everything),
    ("the verifier's list has them all", numbers(r"^//   C(\d+) ", verifier), everything),
    ("each is cited by a message (C1 is Registry.cpp's)", numbers(rf"\({name} C(\d+)\)\"", messages), everything[1:]),
    ("each is cited by a unit test", numbers(r"\bC(\d+)\b", test), everything),
]
tests = set(re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", test, re.MULTILINE))
for shown in re.findall(r"^\| C\d+ \|.*\| `(\w+\.\w+)` \|$", page, re.MULTILINE):
    checks.append((f"{shown} exists", tuple(shown.split(".")) in tests, True))
checks.append(("each row of the page names a test", len(checks) - 4, len(documented)))
wrong = [f"{what}: {found}, not {wanted}" for what, found, wanted in checks if found != wanted]
print("\n".join(wrong) or f"{len(documented)} constraints")
sys.exit(bool(wrong))
