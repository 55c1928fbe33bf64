# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a C program that calls every function of oneDNN's headers with zeros, each in a
child process, and prints the results.

  write_null_calls.py GENUINE_INCLUDE OUTPUT

A zero is a null pointer, an undefined enumerator or an empty size, depending on the parameter. The program prints a
line for each function that did not return, and for each that returned `success`.
"""

import os
import sys

from headers import GENUINE, pathsOf, readFunctions

START = """#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
typedef long (*function)();
struct call {
  const char *name;
  function called;
  int givesStatus;
};
"""
MAIN = """
int main(void) {
  int called = 0, crashed = 0;
  for (const struct call *c = calls; c->name; ++c, ++called) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      int status = (int)c->called(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                                  0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
      _exit(c->givesStatus ? status : 200);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) {
      printf("%s did not return: signal %d\\n", c->name, WTERMSIG(status));
      ++crashed;
    } else if (WEXITSTATUS(status) == 0) {
      printf("%s: success\\n", c->name);
    }
  }
  printf("%d functions called, %d did not return\\n", called, crashed);
  return 0;
}
"""


def main():
    include, output = sys.argv[1:]
    functions = readFunctions(pathsOf(os.path.join(include, "oneapi/dnnl"), GENUINE), "DNNL_API")
    with open(output, "w", encoding="utf-8") as file:
        file.write(START)
        for name in functions:
            file.write(f"long {name}();\n")
        file.write("static const struct call calls[] = {\n")
        for name, declaration in functions.items():
            file.write(f'  {{"{name}", {name}, {int(declaration.startswith("dnnl_status_t"))}}},\n')
        file.write("  {0, 0, 0}};\n" + MAIN)


main()
