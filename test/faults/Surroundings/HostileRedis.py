# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the command with Redis servers that answer each request with one reply of any type, or with invalid bytes.

FAULTS lines must be in comments:
"""
# FAULTS: hostile-redis limit=120:

import os
import socket
import subprocess
import sys
import threading

QUERN = os.environ["QUERN"]
LINE = "softmax fwd_i src=f32:8x31:ab dst=f32:8x31:ab axis=1"
REPLIES = [
    b"#t\r\n", b"#f\r\n", b",1.5\r\n", b",inf\r\n", b",nan\r\n", b"_\r\n", b"(123\r\n", b"=7\r\ntxt:abc\r\n",
    b"!5\r\nERR a\r\n", b"%1\r\n+a\r\n+b\r\n", b"~1\r\n+a\r\n", b">1\r\n+a\r\n", b"|1\r\n+a\r\n+b\r\n#t\r\n",
    b"*1\r\n#t\r\n", b"*2\r\n,1\r\n*1\r\n#f\r\n", b"*-1\r\n", b"*2147483647\r\n", b"$-1\r\n", b"$-2\r\n",
    b"$2000000000\r\nab", b"$?\r\n;2\r\nab\r\n;0\r\n", b"*?\r\n:1\r\n.\r\n", b"+OK\r\n", b"-ERR no\r\n",
    b":9223372036854775808\r\n", b"+OK\r\n+OK\r\n", b"$3\r\nabc\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"\0" * 64, b"\r\n",
]


def serve(reply):
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection):
        with connection:
            try:
                while connection.recv(65536):
                    connection.sendall(reply)
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
    subprocess.run([QUERN, "cache", "keygen", "-o", "key"], check=True, stdout=subprocess.DEVNULL)
    failed = 0
    for reply in REPLIES:
        with serve(reply) as listener:
            address = f"redis://127.0.0.1:{listener.getsockname()[1]}"
            for command in (["run", LINE], ["cache", "list", address]):
                settings = {"QUERN_CACHE_DIR": "off", "QUERN_REMOTE_CACHE": address, "QUERN_REMOTE_SIGNING_KEY": "key",
                            "QUERN_REMOTE_WAIT_MS": "0"}
                done = subprocess.run([QUERN, *command], env=os.environ | settings, capture_output=True, timeout=60,
                                      check=False)
                isBad = done.returncode < 0 or (command[0] == "run" and done.returncode != 0)
                failed += isBad
                if isBad:
                    print(f"{reply!r} to {command[0]}: status {done.returncode} {done.stderr[-200:]!r}")
    print(f"{2 * len(REPLIES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
