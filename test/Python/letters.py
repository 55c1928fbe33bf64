# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text for tests that train models of characters."""

import numpy

TEXT = ("It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want "
        "of a wife. However little known the feelings or views of such a man may be on his first entering a "
        "neighbourhood, this truth is so well fixed in the minds of the surrounding families, that he is considered "
        "as the rightful property of some one or other of their daughters. ")


def batches(steps, length, batch):
    """Yields (letters, next letters) `steps` times, as numbers of shape [length, batch], from random positions."""
    letters = sorted(set(TEXT))
    numbers = numpy.array([letters.index(letter) for letter in TEXT])
    draw = numpy.random.default_rng(3)
    for _ in range(steps):
        starts = draw.integers(0, len(numbers) - length - 1, batch)
        windows = numbers[starts[None] + numpy.arange(length + 1)[:, None]]
        yield windows[:-1], windows[1:]
