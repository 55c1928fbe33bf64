# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Servers for tests of the remote cache: Redis, nginx, and servers with faults.

Each server listens on a Unix socket or a free port of the loopback interface and has a temporary folder for its files.
stop(), or the end of a `with` statement, ends it.
"""

import contextlib
import os
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import time

QUERN = os.environ.get("QUERN", "quern")


def freePort():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def waitFor(condition, seconds=20, what="a server"):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.01)


def answers(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


class Server:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="quern-remote-")
        self.process = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def launch(self, command):
        with open(self.path("log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def certificate(self):
        """Returns the paths of a key and of a self-signed certificate for localhost."""
        key, certificate = self.path("key.pem"), self.path("certificate.pem")
        if not os.path.exists(key):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                 "-keyout", key, "-out", certificate], check=True, capture_output=True)
        return key, certificate


class Redis(Server):
    def __init__(self, *options, tls=False, tcp=False, config=""):
        super().__init__()
        self.socket = self.path("redis.sock")
        self.port = freePort() if tcp or tls else 0
        self.tls = tls
        self.options = list(options)
        self.write("redis.conf", config)
        self.start()

    def start(self):
        command = ["redis-server", self.path("redis.conf"), "--unixsocket", self.socket, "--save", "", "--appendonly",
                   "no", "--dir", self.folder, "--bind", "127.0.0.1", "--port", str(0 if self.tls else self.port)]
        if self.tls:
            key, certificate = self.certificate()
            command += ["--tls-port", str(self.port), "--tls-cert-file", certificate, "--tls-key-file", key,
                        "--tls-auth-clients", "no"]
        self.launch(command + self.options)
        waitFor(lambda: answers(socket.AF_UNIX, self.socket))
        if self.port:
            waitFor(lambda: answers(socket.AF_INET, ("127.0.0.1", self.port)))

    @property
    def url(self):
        if not self.port:
            return f"redis://{self.socket}"
        return f"rediss://localhost:{self.port},ca={self.path('certificate.pem')}" if self.tls \
            else f"redis://127.0.0.1:{self.port}"

    def ask(self, *words):
        """Sends a command over the socket and returns the reply. Parses only the kinds of replies that tests need."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(parts) +
                               b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
            with connection.makefile("rb") as stream:
                return self.reply(stream)

    def reply(self, stream):
        line = stream.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply(stream) for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest

    def entries(self):
        return [key for key in self.ask("KEYS", "quern:1:*") if b"lease" not in key]


class Nginx(Server):
    """WebDAV below /cache, configured like in docs/fleet.md. With a token, only clients that send it may write."""

    def __init__(self, tls=False, token=None, more="", workers=1, autoindex="on"):
        super().__init__()
        self.port, self.tls = freePort(), tls
        os.makedirs(self.path("files/cache/ac"))
        key, certificate = self.certificate() if tls else ("", "")
        guard = f"""set $who "$request_method $http_authorization";
                    if ($who ~ "^PUT (?!Bearer {token}$)") {{ return 403; }}""" if token else ""
        listen = f"listen 127.0.0.1:{self.port}" + (" ssl" if tls else "")
        keys = f"ssl_certificate {certificate}; ssl_certificate_key {key};" if tls else ""
        self.write("nginx.conf", f"""
daemon off; pid {self.path('pid')}; error_log {self.path('error.log')}; worker_processes {workers}; user root;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {self.path('body')}; proxy_temp_path {self.path('t1')};
  fastcgi_temp_path {self.path('t2')}; uwsgi_temp_path {self.path('t3')}; scgi_temp_path {self.path('t4')};
  client_max_body_size 17m;
  server {{
    {listen}; {keys}
    root {self.path('files')};
    location /cache/ac/ {{ {guard} dav_methods PUT; create_full_put_path on; autoindex {autoindex}; {more} }}
  }}
}}
""")
        self.start()

    def start(self):
        self.launch(["nginx", "-c", self.path("nginx.conf"), "-p", self.folder, "-e", self.path("error.log")])
        waitFor(lambda: answers(socket.AF_INET, ("127.0.0.1", self.port)))

    def kill(self):
        # The workers end with the master process only if it gets SIGTERM, not if it is killed.
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    @property
    def url(self):
        return f"https://localhost:{self.port}/cache,ca={self.path('certificate.pem')}" if self.tls \
            else f"http://127.0.0.1:{self.port}/cache"

    def entries(self):
        """Returns the names of the entries that are not leases."""
        folder = self.path("files/cache/ac")

        def isEntry(name):
            with open(os.path.join(folder, name), "rb") as file:
                return not file.read(11) == b"quern lease"

        return [name for name in os.listdir(folder) if isEntry(name)]


class Faulty(Server):
    """A TCP server that calls `behavior(connection, number)` for each connection and closes it afterwards."""

    def __init__(self, behavior):
        super().__init__()
        self.connections = 0
        owner = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                owner.connections += 1
                with contextlib.suppress(OSError):
                    behavior(self.request, owner.connections)

        class Listener(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.port = self.listener.server_address[1]
        self.thread = threading.Thread(target=self.listener.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.listener.shutdown()
        self.listener.server_close()
        super().stop()


class Host:
    """The settings of one machine of a fleet: a disk cache, the remote cache, and keys."""

    def __init__(self, folder, name, keys, url, writes=True, ms=2000, **more):
        self.cache = os.path.join(folder, name)
        self.environment = dict(os.environ, QUERN_CACHE_DIR=self.cache, QUERN_REMOTE_CACHE=url,
                                QUERN_TIERS="specialized", QUERN_REMOTE_PUBLIC_KEYS=keys + ".pub",
                                QUERN_NUM_THREADS="1", **more)
        if ms is not None:  # None: the default
            self.environment["QUERN_REMOTE_MS"] = str(ms)
        if writes:
            self.environment["QUERN_REMOTE_SIGNING_KEY"] = keys

    def quern(self, *arguments, check=True):
        done = subprocess.run([QUERN, *arguments], env=self.environment, capture_output=True, text=True, timeout=120,
                              check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"quern {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def origin(self, line):
        """Runs `quern run --check` and returns the origin of the kernel that it used."""
        text = self.quern("run", line, "--check")
        for word in ("from compiled", "from remote", "from disk", "from memory"):
            if word in text:
                return word.split()[-1]
        raise AssertionError(text)


def line(columns, rows=4):
    return f"softmax fwd_i src=f32:{rows}x{columns}:ab dst=f32:{rows}x{columns}:ab axis=1"


def keygen(folder, name="key"):
    path = os.path.join(folder, name)
    subprocess.run([QUERN, "cache", "keygen", "-o", path], check=True, capture_output=True)
    return path
