#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one server of the remote cache sees when a fleet starts a model that nobody has compiled (docs/fleet.md).

  tools/fleet-simulation.py --hosts=10000 --kernels=60 --spread=10

Each host starts at a random moment of the spread and asks for its kernels one after the other, once each (one flight in
a process). The server answers in order of arrival, one request at a time, as Redis does. Whoever is the first to miss
gets a lease and compiles; the others ask again after 2, 4, … 50 ms, within the bound, and then compile themselves. An
answer later than the bound is lost, and after three of them in a row the host does not ask for a second, then two, …
Prints the most requests and bytes of any second, compilations, and how long hosts took beyond what a fleet with warm
disks takes. Times are of the simulation, and the same for the same seed.
"""

import argparse
import heapq
import random


class Server:
    """Requests in order of arrival."""

    def __init__(self, options):
        self.perRequest = 1 / options.requests
        self.perByte = 8 / (options.gbit * 1e9)
        self.free = 0.0
        self.requests, self.bytes = {}, {}

    def ask(self, now, size):
        """When the answer is there."""
        second = int(now)
        self.requests[second] = self.requests.get(second, 0) + 1
        self.bytes[second] = self.bytes.get(second, 0) + size
        self.free = max(self.free, now) + max(self.perRequest, size * self.perByte)
        return self.free


class Host:
    def __init__(self, start):
        self.start, self.kernel = start, 0
        self.asked = None  # when the look-up of this kernel began
        self.pause = 0.002
        self.failures, self.backoff, self.closedUntil = 0, 1.0, 0.0


def simulate(options):
    draw = random.Random(options.seed)
    bound, compileTime = options.bound / 1e3, options.compile / 1e3
    server = Server(options)
    stored, leases = {}, {}  # kernel -> when
    compilations = [0] * options.kernels
    events = []
    for number in range(options.hosts):
        host = Host(draw.uniform(0, options.spread))
        heapq.heappush(events, (host.start, number, host))
    times = []

    def compileIt(host, now, number):
        """Compiles and stores; then the next kernel."""
        done = now + compileTime * draw.uniform(0.8, 1.6)
        compilations[host.kernel] += 1
        if host.closedUntil <= done:
            there = server.ask(done, options.bytes)
            stored[host.kernel] = min(stored.get(host.kernel, there), there)
        advance(host, done, number)

    def advance(host, now, number):
        host.kernel, host.asked, host.pause = host.kernel + 1, None, 0.002
        if host.kernel == options.kernels:
            times.append(now - host.start)
        else:
            heapq.heappush(events, (now + options.between / 1e3, number, host))

    while events:
        now, number, host = heapq.heappop(events)
        if now < host.closedUntil:
            compileIt(host, now, number)
            continue
        if host.asked is None:
            host.asked = now
        isThere = stored.get(host.kernel, float("inf")) <= now
        answer = server.ask(now, options.bytes if isThere else 100)
        end = host.asked + bound
        if answer > end:
            hadTime = end - now >= bound / 2
            host.failures += hadTime
            if host.failures >= 3:
                host.closedUntil = end + host.backoff * draw.uniform(0.75, 1.25)
                host.backoff, host.failures = min(2 * host.backoff, 60), 0
            compileIt(host, end, number)
            continue
        host.failures = 0
        if isThere:
            advance(host, answer, number)
            continue
        leaseAnswer = server.ask(answer, 100)
        if leases.get(host.kernel, 0) <= now and host.kernel not in stored:
            leases[host.kernel] = now + 10
            compileIt(host, leaseAnswer, number)
        elif leaseAnswer + host.pause >= end:
            compileIt(host, end, number)
        else:
            heapq.heappush(events, (leaseAnswer + host.pause, number, host))
            host.pause = min(2 * host.pause, 0.05)
    times.sort()
    return server, compilations, times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--kernels", type=int, default=60, help="of the model")
    parser.add_argument("--spread", type=float, default=10, help="seconds that the starts are spread over")
    parser.add_argument("--bound", type=float, default=30, help="QUERN_REMOTE_MS")
    parser.add_argument("--bytes", type=int, default=5000, help="of an entry")
    parser.add_argument("--compile", type=float, default=8, help="ms of compiling a kernel")
    parser.add_argument("--between", type=float, default=1, help="ms between a kernel and the next look-up")
    parser.add_argument("--requests", type=float, default=80000, help="a second, that the server can answer")
    parser.add_argument("--gbit", type=float, default=10, help="of its network")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    server, compilations, times = simulate(options)
    at = lambda share: 1e3 * times[min(len(times) - 1, int(share * len(times)))]
    cold = options.kernels * options.compile * 1.2
    print(f"{options.hosts} hosts, {options.kernels} kernels of {options.bytes} bytes, {options.spread:g} s of starts, "
          f"bound {options.bound:g} ms, seed {options.seed}")
    print(f"most requests in a second  {max(server.requests.values())}")
    print(f"most bytes in a second     {max(server.bytes.values()) / 1e6:.1f} MB")
    print(f"compilations in the fleet  {sum(compilations)} of {options.hosts * options.kernels}, "
          f"at most {max(compilations)} of one kernel")
    print(f"start of a host            median {at(0.5):.0f} ms, 99th percentile {at(0.99):.0f} ms; "
          f"without a server {cold + options.kernels * options.between:.0f} ms")


if __name__ == "__main__":
    main()
