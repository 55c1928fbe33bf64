# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the page data from standard input, one value per line, without the key, which depends on the build."""

import json
import sys

text = sys.stdin.read()
data = json.loads(text.replace(json.loads(text)["key"], "KEY"))
print(json.dumps(data, indent=1, ensure_ascii=False))
