# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""programs.py ROOT BUILD PAGE OUT: compiles the C++ programs of a page with the public headers and the library, runs
them, and compares their output with the text before each program: "It prints `...`."."""
import re
import subprocess
import sys

root, build, page, out = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    text = file.read()
wrong = count = 0
for words, program in re.findall(r"It prints `([^`]*)`\.\s*```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
    count += 1
    with open(f"{out}.{count}.cpp", "w", encoding="utf-8") as file:
        file.write(program)
    command = ["clang++-22", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I", root + "/include"]
    command += [file.name, build + "/lib/libquern.so", f"-Wl,-rpath,{build}/lib", "-o", f"{out}.{count}"]
    subprocess.run(command, check=True)
    printed = subprocess.run([f"{out}.{count}"], check=True, capture_output=True, text=True).stdout.strip()
    if printed != words:
        wrong += 1
        print(f"program {count} prints `{printed}`, and the page says `{words}`")
unsaid = text.count("```cpp\n") - count
print(f"{count} programs, {wrong} wrong, {unsaid} of which the page does not say what they print")
sys.exit(bool(wrong or unsaid))
