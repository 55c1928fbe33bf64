# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the start of a fleet with empty caches: 16 hosts with 4 threads each, and one server. Each kernel may be
compiled at most twice with Redis and with nginx. Processes that share a disk cache compile each kernel only once.

A host that gets no answer within QUERN_REMOTE_MS compiles the kernel itself. 64 threads on the few cores of a test
machine may delay the server that long. With the default of 30 ms, the compilations of such hosts are therefore counted
separately; with PATIENT_MS no answer may be late. With a server that does not report whether an entry existed, leases
depend on timing, which a busy machine disturbs: there at most a quarter of the hosts may compile a kernel."""

import http.server
import os
import re
import shutil
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest
from collections import Counter

from servers import Host, Nginx, Redis, keygen, line

HOSTS, THREADS, PATIENT_MS, COLD = 16, 4, 5000, os.environ.get("QUERN_COLD_START", "quern-cold-start")
LINES = [line(columns) for columns in (31, 64, 100, 129)] + \
    [f"reorder src=f32:{n}x48:ab dst=f32:{n}x48:ba" for n in (16, 33)]


class PlainStore:
    """A server with GET, HEAD, and a PUT that ignores conditions and always returns 200, like bazel-remote and S3."""

    def __init__(self):
        objects = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self, status, body=b""):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_GET(self):
                self.answer(200 if self.path in objects else 404, objects.get(self.path, b""))

            do_HEAD = do_GET

            def do_PUT(self):
                objects[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(200)

            def log_message(self, *_):
                pass

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads, request_queue_size, allow_reuse_address = True, 256, True

        self.objects = objects
        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def entries(self):
        return [name for name, body in self.objects.items() if not body.startswith(b"quern lease")]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown()
        self.listener.server_close()


class Fleet(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="quern-remote-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.keys = keygen(self.folder)

    def start(self, hosts, what):
        """Starts a process on each host. Returns the numbers of compilations of each kernel, by the hosts that got all
        answers in time and by the others."""
        problems = os.path.join(self.folder, "problems.desc")
        with open(problems, "w", encoding="utf-8") as file:
            file.write("\n".join(LINES) + "\n")
        start = time.monotonic()
        running = [subprocess.Popen([COLD, problems, str(THREADS)], env=host.environment, stdout=subprocess.PIPE,
                                    text=True) for host in hosts]
        texts = [process.communicate()[0] for process in running]
        seconds = time.monotonic() - start
        self.assertEqual([process.returncode for process in running], [0] * len(hosts), texts)
        prompt, late, ran = Counter(), Counter(), 0
        for text in texts:
            last = re.search(r"^ran (\d+) late (\d+)$", text, re.MULTILINE)
            (late if int(last[2]) else prompt).update(re.findall(r"^compiled (.*)$", text, re.MULTILINE))
            ran += int(last[1])
        self.assertEqual(set(prompt + late), set(LINES), "each by somebody")
        print(f"{what}: {len(hosts)} processes, {THREADS} threads each, {len(LINES)} kernels: {seconds:.2f} s, "
              f"{ran} compilations in the fleet, {sum(late.values())} of them by hosts with late answers")
        return prompt, late

    def startsCold(self, server, what, ms=None, most=2):
        more = {"QUERN_REMOTE_WAIT_MS": "60000"} if ms else {}
        hosts = [Host(self.folder, f"host {i}", self.keys, server.url, ms=ms, **more) for i in range(HOSTS)]
        prompt, late = self.start(hosts, what)
        self.assertLessEqual(max(prompt.values(), default=0), most, prompt)
        if ms:
            self.assertEqual(late, {}, "nothing is late")
        self.assertEqual(len(server.entries()), len(LINES))

    def testRedis(self):
        with Redis() as server:
            self.startsCold(server, "Redis")

    def testRedisWithTime(self):
        with Redis() as server:
            self.startsCold(server, f"Redis, {PATIENT_MS} ms", PATIENT_MS)

    def testNginx(self):
        with Nginx() as server:
            self.startsCold(server, "nginx")

    def testNginxWithWorkersAndTime(self):
        with Nginx(workers=4) as server:
            self.startsCold(server, f"nginx with 4 workers, {PATIENT_MS} ms", PATIENT_MS)

    def testAServerThatSaysLittle(self):
        with PlainStore() as server:
            self.startsCold(server, f"a plain store, {PATIENT_MS} ms", PATIENT_MS, HOSTS // 4)

    def testTheProcessesOfAHost(self):
        """The processes may not write to the server, so they share only the disk cache."""
        with Redis() as server:
            hosts = [Host(self.folder, "host", self.keys, server.url, writes=False, ms=None) for _ in range(HOSTS)]
            prompt, late = self.start(hosts, "one host")
            self.assertEqual(max((prompt + late).values()), 1, prompt + late)


if __name__ == "__main__":
    unittest.main()
