# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the output of two runs of printMemrefF32. Fails if the error relative to the largest value is too large.

  compare.py EXPECTED ACTUAL TOLERANCE
"""

import re
import sys


def numbersIn(path):
    """Returns the sizes, and the elements after each 'data ='."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    sizes = re.findall(r"sizes = \[[^]]*\]", text)
    values = []
    for data in text.split("data =")[1:]:
        data = data.split("Unranked")[0]
        values += [float(number) for number in re.findall(r"[-+0-9.e]+|nan|inf", data)]
    return ", ".join(sizes), values


def main():
    (sizes, expected), (otherSizes, actual) = numbersIn(sys.argv[1]), numbersIn(sys.argv[2])
    if sizes != otherSizes or len(expected) != len(actual) or not expected:
        sys.exit(f"{len(expected)} values, {sizes}; then {len(actual)}, {otherSizes}")
    largest = max(abs(value) for value in expected)
    error = max(abs(a - b) for a, b in zip(expected, actual)) / largest
    if not error <= float(sys.argv[3]) or len(set(expected)) < len(expected) // 2:
        sys.exit(f"the error is {error} of the largest value, {largest}")
    print(f"{len(expected)} values, {sizes}, error {error:.1e}")


if __name__ == "__main__":
    main()
