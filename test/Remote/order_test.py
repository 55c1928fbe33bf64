# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the order of the sources of a kernel: memory, disk, packs, family, the remote cache, the compiler.

Each test makes a kernel available in a source and in those after it, and checks which source was used. If the tiers
include families, a background thread asks the remote cache.
"""

import json
import os
import shutil
import tempfile
import unittest

from servers import Faulty, Host, Redis, keygen, line

LINE = line(512, 64)  # has a family


class OrderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="quern-remote-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.keys = keygen(self.folder)
        self.problems = os.path.join(self.folder, "problems.desc")
        with open(self.problems, "w", encoding="utf-8") as file:
            file.write(LINE + "\n")
        self.server = Redis()
        self.addCleanup(self.server.stop)
        self.assertEqual(self.host("writer").origin(LINE), "compiled")

    def host(self, name, url=None, tiers="specialized", packs=(), **more):
        host = Host(self.folder, name, self.keys, url or self.server.url, **{"writes": False, **more})
        host.environment.update(QUERN_TIERS=tiers, QUERN_PACKS=":".join(packs))
        if name == "writer":
            host.environment["QUERN_REMOTE_SIGNING_KEY"] = self.keys
        return host

    def pack(self, name, *options):
        path = os.path.join(self.folder, name)
        self.host("builder", "redis:///nowhere").quern("pack", "build", self.problems, "-o", path, *options)
        return path

    def created(self, host):
        """Returns the origin of the kernel when the primitive was created, and the time in ms without compilation."""
        problem = json.loads(host.quern("run", LINE, "--check", "--json"))["problems"][0]
        self.assertTrue(problem["check"]["ok"])
        return problem["origin"], (problem["create_ns"] - problem["compile_ns"]) / 1e6

    def testEachComesBeforeWhatFollows(self):
        own, family = self.pack("own.qpk"), self.pack("family.qpk", "--families")
        reader = self.host("reader", tiers="both", packs=(own, family))
        self.assertEqual(self.created(reader)[0], "pack", "which is taken before the family and the remote cache")
        self.assertEqual(self.created(self.host("second", tiers="both", packs=(family,)))[0], "family")
        self.assertEqual(self.created(self.host("third", tiers="specialized", packs=(family,)))[0], "remote")
        self.assertEqual(self.created(self.host("third", tiers="both", packs=(own, family)))[0], "disk")
        self.assertEqual(self.created(self.host("fourth", "redis:///nowhere"))[0], "compiled")
        twice = self.host("third").quern("run", LINE, LINE, "--json")
        self.assertEqual([problem["origin"] for problem in json.loads(twice)["problems"]], ["disk", "memory"])

    def testWithTiersTheRemoteCacheIsAskedInTheBackground(self):
        family = self.pack("family.qpk", "--families")
        host = self.host("reader", tiers="both", packs=(family,), QUERN_VERBOSE="2")
        text = host.quern("run", LINE, "--check")
        self.assertIn("quern,create,family,", text)
        self.assertIn("quern,specialize,remote,", text, "the primitive's own kernel, later")
        silent = lambda connection, _: connection.recv(1 << 16) and connection.recv(1)
        with Faulty(silent) as server:
            host = self.host("late", f"redis://127.0.0.1:{server.port}", tiers="both", packs=(family,), ms=3000)
            origin, waited = self.created(host)
            self.assertEqual(origin, "family")
            self.assertLess(waited, 2500, "nobody waits for the server")


if __name__ == "__main__":
    unittest.main()
