# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fleet that starts cold: 16 hosts with 4 threads each and one server. Each kernel is compiled at most twice."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from servers import Host, Redis, keygen, line

HOSTS, THREADS, COLD = 16, 4, os.environ.get("QUERN_COLD_START", "quern-cold-start")


class Fleet(unittest.TestCase):
    def testColdStart(self):
        folder = tempfile.mkdtemp(prefix="quern-remote-")
        self.addCleanup(shutil.rmtree, folder)
        keys = keygen(folder)
        problems = os.path.join(folder, "problems.desc")
        lines = [line(columns) for columns in (31, 64, 100, 129)]
        lines += [f"reorder src=f32:{n}x48:ab dst=f32:{n}x48:ba" for n in (16, 33)]
        with open(problems, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        with Redis() as server:
            hosts = [Host(folder, f"host {i}", keys, server.url, ms=60000) for i in range(HOSTS)]
            start = time.monotonic()
            running = [subprocess.Popen([COLD, problems, str(THREADS)], env=host.environment, stdout=subprocess.PIPE,
                                        text=True) for host in hosts]
            texts = [process.communicate()[0] for process in running]
            seconds = time.monotonic() - start
            entries = len(server.entries())
        self.assertEqual([process.returncode for process in running], [0] * HOSTS, texts)
        compiled = {}
        for text in texts:
            for found in re.findall(r"^compiled (.*)$", text, re.MULTILINE):
                compiled[found] = compiled.get(found, 0) + 1
        self.assertEqual(set(compiled), set(lines), "each by somebody")
        self.assertLessEqual(max(compiled.values()), 2, compiled)
        self.assertEqual(entries, len(lines))
        print(f"{HOSTS} hosts, {THREADS} threads each, {len(lines)} kernels: {seconds:.2f} s, "
              f"{sum(compiled.values())} compilations in the fleet")


if __name__ == "__main__":
    unittest.main()
