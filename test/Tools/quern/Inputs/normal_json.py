# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data of a page from standard input, one value a line, without its key, which is of the compiler's build."""

import json
import sys

text = sys.stdin.read()
data = json.loads(text.replace(json.loads(text)["key"], "KEY"))
print(json.dumps(data, indent=1, ensure_ascii=False))
