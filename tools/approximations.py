#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the coefficients of the polynomials in lib/Transforms and lib/Primitives/Emission,
highest power first, and their errors.

  approximations.py [NAME...]

Each is the Chebyshev interpolant of the function named in the comment at the coefficients; its error is at most twice
that of the best polynomial of its degree. Needs mpmath.
"""

import sys

from mpmath import atanh, chebyfit, erf, erfc, exp, mp, mpf, pi, sqrt

mp.dps = 60


def mills(k, limit, terms):
    """Returns ½·erfc(x/√2)·exp(x²/2)·(x + k) as a function of t = (x - k) / (x + k), x <= limit, and its range."""
    def f(t):
        x = k * (1 + t) / (1 - t)
        return erfc(x / sqrt(mpf(2))) * exp(x * x / 2) / 2 * (x + k)
    return f, [mpf(-1), mpf(limit - k) / (limit + k)], terms


def scaledErfc(k, limit, terms):
    """Like mills(), for erfc(x)·exp(x²)·(x + k)."""
    def f(t):
        x = k * (1 + t) / (1 - t)
        return erfc(x) * exp(x * x) * (x + k)
    return f, [mpf(-1), mpf(limit - k) / (limit + k)], terms


def erfSeries(limit, terms):
    """Returns erf(x) / x - 1 as a function of x², and its range."""
    def f(z):
        return (2 / sqrt(pi) if z == 0 else erf(sqrt(z)) / sqrt(z)) - 1
    return f, [mpf(0), mpf(limit) ** 2], terms


def logSeries(terms):
    """Returns (log((1 + s) / (1 - s)) - 2s - ⅔s³) / s⁵ as a function of s² for (1 + s) / (1 - s) in [√½, √2]."""
    limit = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    def f(z):
        s = sqrt(z)
        return mpf(2) / 5 if z < mpf(10) ** -20 else (2 * atanh(s) - 2 * s - 2 * s**3 / 3) / s**5
    return f, [mpf(0), limit**2], terms


TABLE = {
    "mills-f32": mills(mpf(2), 14.5, 13),
    "mills-f64": mills(mpf(3), 38.75, 25),
    "erfc-f32": scaledErfc(mpf(3), 11, 11),
    "erfc-f64": scaledErfc(mpf(4), 28, 23),
    "erf-f32": erfSeries(1, 7),
    "erf-f64": erfSeries(1, 13),
    "log-f64": logSeries(9),
}


def main():
    for name in sys.argv[1:] or TABLE:
        f, interval, terms = TABLE[name]
        coefficients, error = chebyfit(f, interval, terms, error=True)
        print(f"{name}: absolute error {mp.nstr(error, 3)}")
        print("  " + ", ".join(mp.nstr(c, 18) for c in coefficients))


if __name__ == "__main__":
    main()
