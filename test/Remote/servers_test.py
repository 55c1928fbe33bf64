# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the remote cache with Redis and nginx: sharing, trust in signers, and the commands of `quern cache`."""

import ctypes
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import unittest

from servers import Host, Nginx, QUERN, Redis, answers, keygen, line, waitFor


# The Level Zero driver of the device tests, and the OpenCL library below it (`tools/peers.sh intel-opencl`).
DRIVER, OPENCL = (os.environ.get(name, "") for name in ("QUERN_TEST_DRIVER", "QUERN_TEST_OPENCL"))

# The same as in docs/fleet.md.
USERS = """
user default off
user host on >hosts-password ~quern:1:* -@all +get +exists
user ci on >ci-password ~quern:1:* -@all +get +set +del +exists +scan +ttl
"""


class RemoteTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="quern-remote-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.keys = keygen(self.folder)

    def host(self, name, url, **more):
        return Host(self.folder, name, more.pop("keys", self.keys), url, **more)

    def shares(self, url):
        """One host compiles a kernel; another, without a compiler, gets it from the server and keeps it on disk."""
        self.assertEqual(self.host("writer", url).origin(line(32)), "compiled")
        reader = self.host("reader", url, writes=False, QUERN_COMPILER_LIBRARY="/nowhere")
        self.assertEqual(reader.origin(line(32)), "remote")
        self.assertEqual(reader.origin(line(32)), "disk")
        kernels = [name for name in os.listdir(self.host("writer", url).cache) if not name.startswith(".")]
        self.assertTrue(kernels)
        for name in kernels:
            with open(os.path.join(self.folder, "writer", name), "rb") as there, \
                    open(os.path.join(self.folder, "reader", name), "rb") as here:
                made, kept = there.read(), here.read()
                self.assertTrue(kept.startswith(made), "the same bytes as the compiler made")
                self.assertEqual(kept[len(made):][:8], b"QUERNSIG", "followed by the signer")


class Servers(RemoteTest):
    def testRedisOverASocket(self):
        with Redis() as server:
            self.shares(server.url)
            self.assertEqual(len(server.entries()), 1)
            self.assertGreater(server.ask("TTL", server.entries()[0]), 29 * 86400)
            self.assertEqual(server.ask("KEYS", "*lease*"), [], "the lease went with the store")

    def testRedisOverTls(self):
        with Redis(tls=True) as server:
            self.shares(server.url)
            stranger = self.host("stranger", f"rediss://localhost:{server.port}")
            self.assertEqual(stranger.origin(line(32)), "compiled", "a certificate that nobody vouches for")

    def testRedisWithUsers(self):
        with Redis(tcp=True, config=USERS) as server:
            ci, hosts, wrong = (server.write(password, password + "\n")
                                for password in ("ci-password", "hosts-password", "guess"))
            writer = f"redis://ci@127.0.0.1:{server.port}"
            reader = f"redis://host@127.0.0.1:{server.port}"
            self.shares(f"{writer},password-file={ci}")
            reading = self.host("reader of docs", f"{reader},password-file={hosts}", writes=False)
            self.assertEqual(reading.origin(line(32)), "remote")
            self.host("no writer", f"{reader},password-file={hosts}").origin(line(40))
            self.assertEqual(self.host("late", f"{writer},password-file={ci}").origin(line(40)), "compiled")
            self.assertIn("2 kernels", self.host("c", "").quern("cache", "list", f"{writer},password-file={ci}"))
            self.assertEqual(self.host("w", f"{writer},password-file={wrong}").origin(line(32)), "compiled")
            self.assertEqual(self.host("n", writer).origin(line(32)), "compiled")

    def testNginx(self):
        with Nginx() as server:
            self.shares(server.url)
            self.assertEqual([len(name) for name in server.entries()], [64])

    def testNginxOverTlsWithAToken(self):
        with Nginx(tls=True, token="t0ken") as server:
            token = server.write("token", "t0ken\n")
            self.assertEqual(self.host("none", server.url).origin(line(32)), "compiled")
            self.assertEqual(server.entries(), [])
            self.shares(f"{server.url},token-file={token}")

    def testSeveralAreAskedInOrder(self):
        with Redis() as first, Nginx() as second:
            self.host("writer", second.url).origin(line(32))
            both = self.host("both", f"{first.url};{second.url},read-only")
            self.assertEqual(both.origin(line(32)), "remote")
            self.assertEqual(both.origin(line(33)), "compiled")
            self.assertEqual((len(first.entries()), len(second.entries())), (1, 1), "the second is read-only")

    def testInstructionSetsShareAServer(self):
        with Redis() as server:
            wide, narrow = (self.host(isa, server.url, QUERN_MAX_CPU_ISA=isa) for isa in ("avx2", "sse42"))
            self.assertEqual(wide.origin(line(32)), "compiled")
            self.assertEqual(narrow.origin(line(32)), "compiled")
            self.assertEqual(len(server.entries()), 2)
            for isa in ("avx2", "sse42"):
                second = self.host("second " + isa, server.url, QUERN_MAX_CPU_ISA=isa)
                self.assertEqual(second.origin(line(32)), "remote")

    def testNamesStayOnTheHost(self):
        with Redis() as server:
            self.host("writer", server.url).origin(line(32))
            entry = server.ask("GET", server.entries()[0])
            self.assertNotIn(b"4x32", entry)
            self.assertNotIn(b"fwd_i", entry)
            self.host("named", server.url + ",names").origin(line(40))
            self.assertTrue(any(b"4x40" in server.ask("GET", key) for key in server.entries()))


MODULE = """
func.func @scaled(%x: tensor<16x48xf32>) -> tensor<16x48xf32> {
  %e = tensor.empty() : tensor<16x48xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<16x48xf32>) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}
"""


class WhatIsShared(RemoteTest):
    def testFunctionsInMlir(self):
        """A host without a compiler gets both the problem of the function and its kernel from the server."""
        module = os.path.join(self.folder, "module.mlir")
        with open(module, "w", encoding="utf-8") as file:
            file.write(MODULE)
        with Redis() as server:
            self.assertIn("from compiled", self.host("writer", server.url).quern("run", "--mlir", module))
            self.assertEqual(len(server.entries()), 2, "what was read, and the kernel")
            reader = self.host("reader", server.url, writes=False, QUERN_COMPILER_LIBRARY="/nowhere")
            self.assertIn("from remote", reader.quern("run", "--mlir", module))
            self.assertIn("from disk", reader.quern("run", "--mlir", module))

    @unittest.skipUnless(os.path.exists(DRIVER) and os.path.exists(OPENCL), "there is no device")
    def testWhatADriverHasMade(self):
        device = {"ZE_ENABLE_ALT_DRIVERS": DRIVER, "ZE_OPENCL_LIBRARY": OPENCL,
                  "LD_LIBRARY_PATH": os.path.dirname(OPENCL) + ":" + os.environ.get("LD_LIBRARY_PATH", "")}
        run = ("run", line(20, 3), "--engine=gpu", "--check")
        with Redis() as server:
            self.assertIn("from compiled", self.host("writer", server.url, **device).quern(*run))
            self.assertEqual(len(server.entries()), 2, "the artifact, and the driver's binary of it")
            reader = self.host("reader", server.url, writes=False, QUERN_COMPILER_LIBRARY="/nowhere", **device)
            self.assertIn("from remote", reader.quern(*run))
            writer = self.host("writer", server.url)
            for name in os.listdir(writer.cache):
                with open(os.path.join(writer.cache, name), "rb") as there, \
                        open(os.path.join(reader.cache, name), "rb") as here:
                    # An entry from a server is stored with its signature appended.
                    self.assertTrue(here.read().startswith(there.read()), "the reader's driver made nothing of its own")


class Documentation(RemoteTest):
    """The servers of docs/fleet.md, with paths and ports of this machine."""

    def block(self, first, last):
        path = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "fleet.md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return text.split(first, 1)[1].split(last, 1)[0]

    def roles(self, ci, host):
        """CI writes and hosts read; hosts that try to write must not succeed."""
        self.assertEqual(self.host("ci", ci).origin(line(32)), "compiled")
        reader = self.host("host", host, writes=False, QUERN_COMPILER_LIBRARY="/nowhere")
        self.assertEqual(reader.origin(line(32)), "remote")
        self.assertIn("1 kernel, ", self.host("lister", "").quern("cache", "list", ci))
        self.host("host that writes", host).origin(line(40))
        self.assertEqual(self.host("late", ci, writes=False).origin(line(40)), "compiled", "hosts store nothing")

    def testRedis(self):
        config = self.block("cat >> /etc/redis/redis.conf <<END\n", "\nEND\n")
        with Redis(tls=True) as server:
            key, certificate = server.certificate()
            passwords = {user: server.write(user, user + "-password\n") for user in ("ci", "hosts")}
            for old, new in (("/etc/redis/cert.pem", certificate), ("/etc/redis/key.pem", key),
                             ("tls-port 6379", f"tls-port {server.port}")):
                self.assertIn(old, config)
                config = config.replace(old, new)
            server.kill()
            server.launch(["redis-server", server.write("redis.conf", config), "--bind", "127.0.0.1", "--save", "",
                           "--dir", server.folder])
            waitFor(lambda: answers(socket.AF_INET, ("127.0.0.1", server.port)))
            place = f"localhost:{server.port},ca={certificate},password-file="
            self.roles(f"rediss://ci@{place}{passwords['ci']}", f"rediss://host@{place}{passwords['hosts']}")

    def testNginx(self):
        config = self.block("/etc/nginx/sites-enabled/quern:\n", "\n```")
        with Nginx(tls=True) as server:
            key, certificate = server.certificate()
            for old, new in (("listen 443 ssl", f"listen 127.0.0.1:{server.port} ssl"),
                             ("/etc/nginx/cert.pem", certificate), ("/etc/nginx/key.pem", key),
                             ("/var/cache/quern", server.path("files"))):
                self.assertIn(old, config)
                config = config.replace(old, new)
            with open(server.path("nginx.conf"), encoding="utf-8") as file:
                frame = file.read()
            server.kill()
            server.write("nginx.conf", frame[:frame.index("  server {")] + config + "\n}\n")
            server.start()
            token = server.write("token", "the-token-of-ci\n")
            self.roles(f"{server.url},token-file={token}", server.url)


class Trust(RemoteTest):
    def testKeysAreMadeOnceAndPrivate(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.keys).st_mode), 0o600)
        again = subprocess.run([QUERN, "cache", "keygen", "-o", self.keys], capture_output=True, text=True, check=False)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("exists", again.stderr)

    def testAKeyThatOthersMayReadIsRefused(self):
        os.chmod(self.keys, 0o640)
        with Redis() as server:
            host = self.host("writer", server.url, QUERN_VERBOSE="1")
            text = host.quern("run", line(32))
            self.assertIn("mode 0640", text)
            self.assertEqual(server.entries(), [])

    def testForeignSignaturesAreMisses(self):
        with Redis() as server:
            stranger = keygen(self.folder, "stranger")
            self.host("writer", server.url, keys=stranger).origin(line(32))
            reader = self.host("reader", server.url, writes=False)
            self.assertEqual(reader.origin(line(32)), "compiled")
            both = self.host("both", server.url, writes=False)
            both.environment["QUERN_REMOTE_PUBLIC_KEYS"] += f",{stranger}.pub"
            self.assertEqual(both.origin(line(32)), "remote", "rotation: both keys are believed")

    def testWhatWasTamperedWithIsAMiss(self):
        with Redis() as server:
            self.host("writer", server.url).origin(line(32))
            self.host("writer", server.url).origin(line(40))
            first, second = server.entries()
            entry, other = server.ask("GET", first), server.ask("GET", second)
            reader = self.host("reader", server.url, writes=False)
            changed = {"flipped": entry[:-200] + bytes([entry[-200] ^ 1]) + entry[-199:], "truncated": entry[:-1],
                       "long": entry + b"\0", "empty": b"", "another's": other, "unsigned": entry[:-64],
                       "huge": entry + bytes(16 << 20)}
            lines = {key: columns for columns in (32, 40) for key in (first, second)
                     if self.isEntryOf(server, key, columns)}
            for what, bad in changed.items():
                server.ask("SET", first, bad)
                listing = self.host("reader " + what, server.url, writes=False)
                self.assertEqual(listing.origin(line(lines[first])), "compiled", what)
            server.ask("SET", first, entry)
            self.assertEqual(reader.origin(line(lines[first])), "remote")

    def isEntryOf(self, server, key, columns):
        probe = self.host(f"probe {columns} {key.decode()[-8:]}", server.url, writes=False)
        kept = {other: server.ask("GET", other) for other in server.entries()}
        for other in kept:
            if other != key:
                server.ask("DEL", other)
        found = probe.origin(line(columns)) == "remote"
        for other, entry in kept.items():
            server.ask("SET", other, entry)
        return found


class Settings(ctypes.Structure):
    """The C structure quern_remote_cache_t."""
    _fields_ = [(name, ctypes.c_char_p) for name in ("servers", "public_keys", "signing_key", "password_file",
                                                     "token_file")] + [("milliseconds", ctypes.c_int),
                                                                        ("wait_milliseconds", ctypes.c_int)]


class InterfaceTest(RemoteTest):
    def testSettingIsCheckedAndChangesNothingWhereItFails(self):
        library = ctypes.CDLL(os.environ["QUERN_LIBRARY"])
        success, invalid, failed = 0, 2, 5
        key, public = self.keys.encode(), (self.keys + ".pub").encode()

        def set(*values):
            return library.quern_set_remote_cache(ctypes.byref(Settings(*values)))

        self.assertEqual(library.quern_set_remote_cache(None), invalid)
        self.assertEqual(set(b"redis:///nowhere", public, b"", b"", b"", 5), success)
        for values in ((b"ftp://host", public), (b"redis://host", b""), (b"redis://host", key),
                       (b"redis://host,x", public), (b"redis://host", public, b"", b"", b"", -1),
                       (b"redis://host", public, b"", b"", b"", 5, -2)):
            self.assertEqual(set(*values), invalid, values)
        self.assertEqual(set(b"redis://host", b"/nowhere"), failed)
        self.assertEqual(set(b"redis://host", public, b"", b"/nowhere"), failed)
        self.assertEqual(library.quern_get_remote_statistics(None), invalid)
        statistics = (ctypes.c_uint64 * 21)(*[7] * 21)
        self.assertEqual(library.quern_get_remote_statistics(statistics), success)
        self.assertEqual(list(statistics), [0] * 21)
        self.assertEqual(library.quern_flush_remote_cache(-1), invalid)
        self.assertEqual(library.quern_flush_remote_cache(10), success)
        self.assertEqual(set(b""), success)

    def testNothingIsOpenedThatIsNotConfigured(self):
        host = self.host("host", "")
        del host.environment["QUERN_REMOTE_CACHE"]
        host.environment["LD_DEBUG"] = "files"
        self.assertNotIn("quern-remote", host.quern("run", line(32)))


class CommandTest(RemoteTest):
    def testPushPullSyncAndList(self):
        with Redis() as server:
            alone = self.host("alone", "")
            del alone.environment["QUERN_REMOTE_CACHE"]
            for columns in (32, 40, 48):
                alone.origin(line(columns))
            self.assertIn("2 pushed, 0 already there, 0 failed",
                          alone.quern("cache", "push", server.url, "--filter", "x4"))
            self.assertIn("1 pushed, 2 already there, 0 failed", alone.quern("cache", "push", server.url))
            self.assertIn("3 kernels", alone.quern("cache", "list", server.url))
            problems = os.path.join(self.folder, "problems.desc")
            with open(problems, "w", encoding="utf-8") as file:
                file.write("\n".join(line(columns) for columns in (32, 40, 56)) + "\n")
            reader = self.host("reader", server.url, writes=False)
            self.assertIn("2 pulled, 0 already there, 1 not there, 0 failed",
                          reader.quern("cache", "pull", server.url, "-f", problems))
            self.assertIn("0 pulled, 2 already there, 1 not there",
                          reader.quern("cache", "pull", server.url, "-f", problems))
            self.assertEqual(reader.origin(line(32)), "disk")
            named = self.host("named", server.url)
            named.origin(line(64))
            self.assertIn("1 pushed", named.quern("cache", "push", server.url.replace("sock", "sock,names,db=1")))
            other = self.host("other", server.url)
            self.assertIn("1 pulled", other.quern("cache", "sync", server.url + ",db=1"))
            self.assertIn("4x64", other.quern("cache", "list", server.url + ",db=1"))

    def testListAndPullOverHttp(self):
        with Nginx() as server:
            self.host("writer", server.url + ",names", ms=2000).origin(line(32))
            listed = self.host("x", "").quern("cache", "list", server.url)
            self.assertIn("1 kernel, ", listed, "leases are none")
            self.assertIn("4x32", listed)
            self.assertIn("1 pulled", self.host("reader", "").quern("cache", "pull", server.url))
        with Nginx(autoindex="off") as server:
            text = self.host("x", "").quern("cache", "list", server.url, check=False)
            self.assertIn("does not list", text)
            self.assertIn("autoindex", text)

    def testPullOfAPackListAndOfTargets(self):
        problems = os.path.join(self.folder, "problems.desc")
        with open(problems, "w", encoding="utf-8") as file:
            file.write("\n".join(line(columns) for columns in (32, 40)) + "\n")
        pack, pack_list = os.path.join(self.folder, "pack.qpk"), os.path.join(self.folder, "pack.json")
        with Redis() as server:
            writer = self.host("writer", server.url)
            writer.quern("pack", "build", problems, "-o", pack, "--target=avx2", "--target=sse42")
            with open(pack_list, "w", encoding="utf-8") as file:
                file.write(writer.quern("pack", "list", pack, "--json"))
            writer.quern("pack", "extract", pack, "-o", writer.cache)
            self.assertIn("4 pushed", writer.quern("cache", "push", server.url))
            reader = self.host("reader", server.url, writes=False)
            self.assertIn("4 pulled, 0 already there, 0 failed",
                          reader.quern("cache", "pull", server.url, "-f", pack_list))
            narrow = self.host("narrow", server.url, writes=False)
            self.assertIn("2 pulled, 0 already there, 2 not there", narrow.quern(
                "cache", "pull", server.url, "-f", problems, "--target=avx2", "--target=native"))
            damaged = os.path.join(self.folder, "damaged.json")
            with open(damaged, "w", encoding="utf-8") as file:
                file.write('{"artifacts": [{"problem": "x"}]}')
            self.assertIn("without a problem or target",
                          reader.quern("cache", "pull", server.url, "-f", damaged, check=False))

    def testStatisticsOfPrewarming(self):
        with Redis() as server:
            problems = os.path.join(self.folder, "problems.desc")
            with open(problems, "w", encoding="utf-8") as file:
                file.write("\n".join(line(columns) for columns in range(32, 40)) + "\n")
            self.assertIn("remote cache: 0 hits, 8 misses, 0 rejected, 0 late, 0 failed; 8 stored, 0 not stored",
                          self.host("writer", server.url).quern("cache", "prewarm", "-f", problems))
            self.assertIn("remote cache: 8 hits, 0 misses", self.host("reader", server.url, writes=False).quern(
                "cache", "prewarm", "-f", problems))


if __name__ == "__main__":
    unittest.main()
