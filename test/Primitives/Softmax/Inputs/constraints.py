# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""constraints.py ROOT: the page, the verifier's list, its messages and the unit test name the same constraints of softmax."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/primitives/softmax.md").read_text(encoding="utf-8")
verifier = (root / "lib/Primitives/Softmax/Verify.cpp").read_text(encoding="utf-8")
messages = verifier + (root / "lib/Primitives/Softmax/VerifyAttributes.cpp").read_text(encoding="utf-8")
test = (root / "test/unit/Primitives/SoftmaxVerifyTest.cpp").read_text(encoding="utf-8")


def numbers(pattern, text):
    return sorted({int(number) for number in re.findall(pattern, text, re.MULTILINE)})


documented = numbers(r"^\| C(\d+) \|", page)
everything = list(range(1, len(documented) + 1))
checks = [
    ("the page numbers its constraints without gaps", documented, everything),
    ("the verifier's list has them all", numbers(r"^//   C(\d+) ", verifier), everything),
    ("each is cited by a message (C1 is Registry.cpp's)", numbers(r"\(softmax C(\d+)\)\"", messages), everything[1:]),
    ("each is cited by the unit test", numbers(r"\bC(\d+)\b", test), everything),
]
tests = set(re.findall(r"^TEST\((\w+), (\w+)\)", test, re.MULTILINE))
for name in re.findall(r"^\| C\d+ \|.*\| `(\w+\.\w+)` \|$", page, re.MULTILINE):
    checks.append((f"{name} exists", tuple(name.split(".")) in tests, True))
checks.append(("each row of the page names a test", len(checks) - 4, len(documented)))
wrong = [f"{what}: {found}, not {wanted}" for what, found, wanted in checks if found != wanted]
print("\n".join(wrong) or f"{len(documented)} constraints")
sys.exit(bool(wrong))
