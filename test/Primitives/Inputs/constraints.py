# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""constraints.py ROOT NAME TEST...: compares the constraints of a primitive in its page, in the verifier's list and in
its messages, and checks that the unit test in each row of the page expects a refusal with that number.

A test expects the number of a constraint if the number is in an assertion, as "(name C7)", or in a table of refusals,
{"C7", line, status, "words of the message"}, that is passed to expectRefused() or expectAllRefused(). A constraint that
a verifier cites for an execution is not a refusal."""
import pathlib
import re
import sys

root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
folder = root / "lib/Primitives" / name.capitalize()


def read(path):
    return path.read_text(encoding="utf-8")


def numbers(pattern, text):
    return sorted({int(number) for number in re.findall(pattern, text, re.MULTILINE)})


def tests(path):
    """Returns {"Suite.Name": text}: the test without comments, with the code between it and the previous test."""
    text = re.sub(r"(^|\s)//.*", "", read(path))
    found, start = {}, 0
    for match in re.finditer(r"^TEST(?:_F|_P)?\((\w+), (\w+)\).*?^}", text, re.MULTILINE | re.DOTALL):
        found[f"{match.group(1)}.{match.group(2)}"] = text[start:match.end()]
        start = match.end()
    return found


def isDemanded(number, text):
    literal = f'({name} C{number})"'
    rows = re.split(r'(?=\{"C\d+",)', text)
    status = r"\b(?:invalid|unsupported|unimplemented|Status::\w+)"
    row = re.compile(rf'\{{"C{number}",.*{status},\s*(?:std::string\(|concat\()?"[^"]{{6,}}', re.DOTALL)
    if any(row.match(one.split("};")[0]) for one in rows):
        return "xpectRefused(" in text or "expectAllRefused(" in text
    if any(isAsserted(text, match.start()) for match in re.finditer(re.escape(literal), text)):
        return True
    # A table of whole citations, or of ends of messages, with which messages are compared.
    isRow = re.search(r'[,{]\s*"[^"]*' + re.escape(literal) + r"\s*[,}]", text)
    return bool(isRow and re.search(r"EXPECT_(?:NE|TRUE)\([^;]*\.(?:find|ends_with)\(\w", text))


def isAsserted(text, place):
    """Whether the place is between the parentheses of an assertion."""
    openings = re.finditer(r"(?:(?:EXPECT|ASSERT)_\w+|expectRefused)\(", text)
    starts = [match for match in openings if match.end() <= place]
    if not starts:
        return False
    between = re.sub(r'"(?:[^"\\]|\\.)*"', "", text[starts[-1].end():place])
    depths, depth = [1], 1
    for letter in between:
        depth += (letter == "(") - (letter == ")")
        depths.append(depth)
    return min(depths) > 0 and "citations." not in between


page, verifier = read(root / f"docs/primitives/{name}.md"), read(folder / "Verify.cpp")
messages = "".join(read(path) for pattern in ("Verify*.cpp", "Verify/*.cpp") for path in sorted(folder.glob(pattern)))
known = {}
for path in sys.argv[3:]:
    known.update(tests(root / "test/unit" / path))
documented = numbers(r"^\| C(\d+) \|", page)
everything = list(range(1, len(documented) + 1))
wrong = [f"{what}: {found}, not {wanted}" for what, found, wanted in [
    ("the page numbers its constraints without gaps", documented, everything),
    ("the verifier's list has them all", numbers(r"^//   C(\d+) ", verifier), everything),
    ("each is cited by a message (C1 is Registry.cpp's)", numbers(rf"\({name} C(\d+)\)\"", messages), everything[1:]),
] if found != wanted]
shown = dict(re.findall(r"^\| C(\d+) \|.*\| `(\w+\.\w+)` \|$", page, re.MULTILINE))
for number in everything:
    test = shown.get(str(number))
    if not test:
        wrong.append(f"C{number}: the page names no test")
    elif test not in known:
        wrong.append(f"C{number}: there is no {test}")
    elif not isDemanded(number, known[test]):
        wrong.append(f"C{number}: {test} expects no refusal with its number")
print("\n".join(wrong) or f"{len(documented)} constraints")
sys.exit(bool(wrong))
