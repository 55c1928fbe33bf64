# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the command with servers that answer each request with any reply, or with invalid bytes.

FAULTS lines must be in comments:
"""
# FAULTS: hostile-redis limit=120: redis
# FAULTS: hostile-http limit=180: http

import os
import socket
import subprocess
import sys
import threading

QUERN = os.environ["QUERN"]
LINE = "softmax fwd_i src=f32:8x31:ab dst=f32:8x31:ab axis=1"
REDIS = [
    b"#t\r\n", b"#f\r\n", b",1.5\r\n", b",inf\r\n", b",nan\r\n", b"_\r\n", b"(123\r\n", b"=7\r\ntxt:abc\r\n",
    b"!5\r\nERR a\r\n", b"%1\r\n+a\r\n+b\r\n", b"~1\r\n+a\r\n", b">1\r\n+a\r\n", b"|1\r\n+a\r\n+b\r\n#t\r\n",
    b"*1\r\n#t\r\n", b"*2\r\n,1\r\n*1\r\n#f\r\n", b"*-1\r\n", b"*2147483647\r\n", b"$-1\r\n", b"$-2\r\n",
    b"$2000000000\r\nab", b"$?\r\n;2\r\nab\r\n;0\r\n", b"*?\r\n:1\r\n.\r\n", b"+OK\r\n", b"-ERR no\r\n",
    b":9223372036854775808\r\n", b"+OK\r\n+OK\r\n", b"$3\r\nabc\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"\0" * 64, b"\r\n",
]
HTTP = [
    b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
    b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\nabc", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200000 + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 20000 + b"\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /cache\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\n\r\na",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 429 Slow\r\nRetry-After: 99999999999\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 0 None\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n", b"HTTP/2 200\r\n\r\n",
    b"HTTP/1.1\r\n\r\n", b"+OK\r\n", b"\0" * 64, b"\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 59\r\n\r\n" +
    b'<a href="../../etc/passwd">x</a><a href="' + b"0" * 10 + b'"></a>',
    b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nquern lease\n\xff\xff\xff\xff",
]


def serve(reply, closes):
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection):
        with connection:
            try:
                while connection.recv(65536):
                    connection.sendall(reply)
                    if closes:
                        return
            except OSError:
                pass

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener


def main():
    scheme, path, replies = {"redis": ("redis", "", REDIS), "http": ("http", "/cache", HTTP)}[sys.argv[1]]
    subprocess.run([QUERN, "cache", "keygen", "-o", "key"], check=True, stdout=subprocess.DEVNULL)
    failed = 0
    for reply in replies:
        with serve(reply, closes=scheme == "http") as listener:
            address = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}{path}"
            for command in (["run", LINE], ["cache", "list", address]):
                settings = {"QUERN_CACHE_DIR": "off", "QUERN_REMOTE_CACHE": address, "QUERN_REMOTE_SIGNING_KEY": "key",
                            "QUERN_REMOTE_WAIT_MS": "0"}
                done = subprocess.run([QUERN, *command], env=os.environ | settings, capture_output=True, timeout=60,
                                      check=False)
                isBad = done.returncode < 0 or (command[0] == "run" and done.returncode != 0)
                failed += isBad
                if isBad:
                    print(f"{reply[:80]!r} to {command[0]}: status {done.returncode} {done.stderr[-200:]!r}")
    print(f"{2 * len(replies) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
