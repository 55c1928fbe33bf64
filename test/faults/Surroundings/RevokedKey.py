# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the effect of a revoked key on kernels in disk caches (docs/fleet.md)."""
# FAULTS: revoked-key limit=60:

import os
import shutil
import subprocess
import sys

import servers

QUERN = os.environ["QUERN"]
LINE = "softmax fwd_i src=f32:8x31:ab dst=f32:8x31:ab axis=1"


def quern(disk, *words, **settings):
    environment = os.environ | {"QUERN_CACHE_DIR": os.path.abspath(disk), "QUERN_REMOTE_MS": "5000"} | settings
    done = subprocess.run([QUERN, *words], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {words}: {done.stderr}")
    return done.stdout


def expect(found, part, what):
    if part not in found:
        sys.exit(f"FAILED: {what}: '{part}' is not in:\n{found}")


def main():
    if not shutil.which("redis-server"):
        print("skipped: redis-server is not installed")
        return 77
    for key in "ab":
        quern("none", "cache", "keygen", "-o", f"{key}.key")
    with open("a.key.pub", encoding="utf-8") as file:
        idOfA = file.read().split()[1][:16]
    with servers.Redis() as server:
        url = server.url
        asA = {"QUERN_REMOTE_CACHE": url, "QUERN_REMOTE_SIGNING_KEY": "a.key"}
        believesA = {"QUERN_REMOTE_CACHE": url, "QUERN_REMOTE_PUBLIC_KEYS": "a.key.pub"}
        believesB = {"QUERN_REMOTE_CACHE": url, "QUERN_REMOTE_PUBLIC_KEYS": "b.key.pub"}
        signsB = {"QUERN_REMOTE_SIGNING_KEY": "b.key"}
        expect(quern("A", "cache", "prewarm", "-f", problems(), **asA), "1 compiled", "A compiles and signs")
        expect(quern("A", "cache", "list", url, QUERN_REMOTE_PUBLIC_KEYS="a.key.pub"), idOfA, "the server's list")
        expect(quern("B", "run", LINE, **believesA), "from remote", "B believes A")
        expect(quern("B", "run", LINE, **believesA), "from disk", "B has it on its disk")
        expect(quern("B", "cache", "list"), idOfA, "B's list names the key")
        expect(quern("B", "cache", "verify"), "1 sound, 0 damaged", "B's file")
        expect(quern("B", "cache", "push", url, **signsB), "0 pushed, 0 already there, 1 of other hosts", "B's push")
        expect(quern("C", "run", LINE, **believesB), "from compiled", "C never believed A")
        expect(quern("B", "run", LINE, **believesB), "from compiled", "A is revoked at B")
        expect(quern("B", "run", LINE, **believesB), "from disk", "B has compiled its own")
        expect(quern("B", "cache", "push", url, **signsB), "pushed", "B signs what it compiled")
        expect(quern("D", "cache", "pull", url, "-f", problems(), QUERN_REMOTE_PUBLIC_KEYS="a.key.pub,b.key.pub"),
               "1 pulled", "D pulls")
        expect(quern("D", "run", LINE), "from disk", "D has no servers")
        expect(quern("D", "cache", "list"), "softmax", "D's list")
    return 0


def problems():
    with open("problems", "w", encoding="utf-8") as file:
        file.write(LINE + "\n")
    return "problems"


if __name__ == "__main__":
    sys.exit(main())
