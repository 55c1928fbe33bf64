# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explains modules for whose text MLIR's parser would need minutes, or recurse until the stack overflows.

  huge_text.py FOLDER

Each is refused as invalid_arguments, or accepted, within seconds; none terminates the process.
"""

import subprocess
import sys
import time

FUNCTION = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
MOST_SECONDS = 60  # on a loaded machine; on an idle one each takes less than one second


def attribute(text):
    return f"module attributes {{test.a = {text}}} {{}}\n" + FUNCTION


def expression(text):
    return f"#m = affine_map<(d0) -> ({text})>\n" + FUNCTION


def doubling(sign, first, text, count=60):
    lines = [f"{sign}a0 = {first}"]
    lines += [f"{sign}a{i + 1} = " + text.replace("X", f"{sign}a{i}") for i in range(count)]
    return "\n".join(lines) + "\n" + attribute(f"{sign}a{count}")


REFUSED = {
    "minus": expression("-" * 20000 + "d0"),
    "minus without blanks": expression("d0" + "-d0" * 20000),
    "terms": expression(" + ".join(["d0"] * 100000)),
    "terms in parentheses": expression("(" * 150 + "d0" + " + d0 + d0)" * 150),
    "quotients": expression("d0" + " floordiv 3" * 100000),
    "dims of a map": "#m = affine_map<(" + ",".join(f"d{i}" for i in range(50000)) + ") -> (d0)>\n" + FUNCTION,
    "types that double": doubling("!", "f32", "tuple<X, X>"),
    "types that double over lines": doubling("!", "f32", "(X) ->\n  (X)"),
    "attributes that double": doubling("#", "1", "[X, X]"),
    "dictionaries that double": doubling("#", "1", "{a = X, b = X}"),
    "chain of aliases": doubling("#", "1", "[X]", 50000),
    "integer": attribute("9" * 100000 + " : i16777215"),
    "hexadecimal integer": attribute("0x" + "F" * 100000 + " : i16777215"),
    "float": attribute("1e" + "9" * 100000 + " : f32"),
    "shape": attribute("dense<1> : tensor<" + "1x" * 100000 + "i8>"),
    "shape with blanks": attribute("dense<1> : tensor<" + "1 x " * 100000 + "i8>"),
    "open shape": attribute("dense<1> : tensor<" + "?x" * 100000 + "i8>"),
    "nested behind comments": attribute("[ // ]]]\n" * 20000),
    "nested behind arrows": attribute("tuple<() -> " * 20000 + "i8"),
    "regions": FUNCTION.replace("return", '"x.y"() ({\n' * 50000 + "}) : () -> ()\n" * 50000 + "return"),
}
TAKEN = {
    "long list": attribute("array<i64: " + ", ".join(["-1"] * 100000) + ">"),
    "long table": attribute("dense<[" + ", ".join(["-1"] * 100000) + "]> : tensor<100000xi8>"),
    "long string": attribute('"' + "(" * 100000 + '"'),
    "long name": FUNCTION.replace("@f", "@" + "f.x_y" * 10000),
    "many maps": "".join(f"#m{i} = affine_map<(d0) -> ({'d0 mod 3 + ' * 50}{i})>\n" for i in range(500)) + FUNCTION,
    "many functions": "".join(f"func.func private @g{i}()\n" for i in range(10000)) + FUNCTION,
    "locations": FUNCTION + '#l0 = loc("a")\n' + "".join(
        f"#l{i + 1} = loc(callsite(#l{i} at #l0))\n" for i in range(60)),
}


def main():
    wrong = 0
    for cases, status in ((REFUSED, 2), (TAKEN, 0)):
        for name, text in cases.items():
            path = f"{sys.argv[1]}/module.mlir"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            start = time.monotonic()
            try:
                ran = subprocess.run(["quern", "explain", f"--mlir={path}"], capture_output=True, text=True,
                                     timeout=MOST_SECONDS, check=False)
                found = ran.returncode
                words = ran.stderr[:300]
            except subprocess.TimeoutExpired:
                found, words = "none", ""
            if found != status:
                print(f"{name}: exit {found} after {time.monotonic() - start:.1f} s, expected {status}: {words}")
                wrong += 1
    print(f"{len(REFUSED) + len(TAKEN)} modules, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
