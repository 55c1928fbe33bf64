#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates one server of the remote cache while a fleet starts a model that no host has compiled (docs/fleet.md).

  tools/fleet-simulation.py --hosts=10000 --processes=8 --kernels=60 --spread=10

Each host starts at a random time within the spread, with all its processes at once, and requests its kernels one after
another. One process of a host sends the requests and the others wait for it; with --apart each process sends its own.
The server answers in order of arrival, one request at a time, like Redis. The first process that misses gets a lease
and compiles. The others retry after pauses of 4 to 50 ms, varied by a quarter, until their patience ends; after a
quarter of it there is a second lease. A process without an answer within the bound compiles, unless the answer arrives
before the compilation ends. After three such failures in a row it sends no requests for one second, then two, ...
Prints the maximum of requests and of bytes per second, the number of compilations, and the time until a process has all
kernels. Times are simulated, and equal for equal seeds.
"""

import argparse
import heapq
import random

FIRST_PAUSE, LONGEST_PAUSE, LEASE = 0.004, 0.05, 10.0
NO_WAITS = 60.0  # seconds without waiting after a wait without an answer
FAILURES, LONGEST_BACKOFF = 3, 60.0


class Server:
    """A server that handles requests in order of arrival."""

    def __init__(self, options):
        self.perRequest = 1 / options.requests
        self.perByte = 8 / (options.gbit * 1e9)
        self.free = 0.0
        self.requests, self.bytes = {}, {}

    def ask(self, now, size):
        """Returns the time at which the answer arrives."""
        second = int(now)
        self.requests[second] = self.requests.get(second, 0) + 1
        self.bytes[second] = self.bytes.get(second, 0) + size
        self.free = max(self.free, now) + max(self.perRequest, size * self.perByte)
        return self.free


class Asker:
    """A process that sends requests, for itself or for all of its host."""

    def __init__(self, start):
        self.start, self.kernel = start, 0
        self.failures, self.backoff, self.closedUntil, self.noWaitsUntil = 0, 1.0, 0.0, 0.0
        self.begin()

    def begin(self):
        """Starts the next look-up."""
        self.waitsSince, self.pause, self.tried = None, FIRST_PAUSE, -1


class Fleet:
    def __init__(self, options):
        self.options = options
        self.draw = random.Random(options.seed)
        self.bound, self.patience = options.bound / 1e3, options.patience / 1e3
        self.server = Server(options)
        self.stored, self.leases = {}, {}  # by kernel: times
        self.compilations = [0] * options.kernels
        self.times, self.events = [], []
        count = options.hosts * (options.processes if options.apart else 1)
        starts = [self.draw.uniform(0, options.spread) for _ in range(options.hosts)]
        for number in range(count):
            asker = Asker(starts[number % options.hosts])
            heapq.heappush(self.events, (asker.start, number, asker))

    def run(self):
        while self.events:
            now, number, asker = heapq.heappop(self.events)
            after = self.step(now, asker)
            if after is not None:
                heapq.heappush(self.events, (after, number, asker))
        self.times.sort()

    def step(self, now, asker):
        """Performs one look-up of one process. Returns the time of its next one, or None if it is done."""
        if now < asker.closedUntil:
            return self.compile(asker, now)
        isThere = self.stored.get(asker.kernel, float("inf")) <= now
        answer = self.server.ask(now, self.options.bytes if isThere else 100)
        isFirst = asker.waitsSince is None
        if isFirst and answer > now + self.bound:
            return self.compileMeanwhile(asker, now + self.bound, answer if isThere else float("inf"))
        asker.failures = 0
        if isThere:
            return self.advance(asker, answer)
        if isFirst:
            asker.waitsSince = answer
        waited = answer - asker.waitsSince
        which = int(waited >= self.patience / 4)
        if which != asker.tried:
            asker.tried = which
            answer = self.server.ask(answer, 300)
            if self.leases.get((asker.kernel, which), 0) <= now and asker.kernel not in self.stored:
                self.leases[asker.kernel, which] = now + LEASE
                return self.compile(asker, answer)
        if now < asker.noWaitsUntil:
            return self.compile(asker, answer)
        if waited >= self.patience:
            asker.noWaitsUntil = answer + NO_WAITS
            return self.compile(asker, answer)
        pause = asker.pause * self.draw.uniform(0.75, 1.25)
        asker.pause = min(2 * asker.pause, LONGEST_PAUSE)
        return answer + pause

    def compile(self, asker, now):
        """Compiles and stores a kernel, then continues with the next one."""
        done = now + self.options.compile / 1e3 * self.draw.uniform(0.8, 1.6)
        self.compilations[asker.kernel] += 1
        if asker.closedUntil <= done:
            there = self.server.ask(done, self.options.bytes)
            self.stored[asker.kernel] = min(self.stored.get(asker.kernel, there), there)
        return self.advance(asker, done)

    def compileMeanwhile(self, asker, end, answer):
        """Handles the end of the bound: continues with the compiler's result or the answer, whichever comes first."""
        asker.failures += 1
        if asker.failures >= FAILURES:
            asker.closedUntil = end + asker.backoff * self.draw.uniform(0.75, 1.25)
            asker.backoff, asker.failures = min(2 * asker.backoff, LONGEST_BACKOFF), 0
        if answer > end + self.options.compile / 1e3:
            return self.compile(asker, end)
        self.compilations[asker.kernel] += 1  # its result is not used
        return self.advance(asker, answer)

    def advance(self, asker, now):
        asker.kernel += 1
        asker.begin()
        if asker.kernel < self.options.kernels:
            return now + self.options.between / 1e3
        self.times.append(now - asker.start)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--processes", type=int, default=8, help="number of processes of each host")
    parser.add_argument("--apart", action="store_true", help="each process sends its own requests")
    parser.add_argument("--kernels", type=int, default=60, help="number of kernels of the model")
    parser.add_argument("--spread", type=float, default=10, help="period in which the hosts start, in s")
    parser.add_argument("--bound", type=float, default=30, help="QUERN_REMOTE_MS, in ms")
    parser.add_argument("--patience", type=float, default=2000, help="QUERN_REMOTE_WAIT_MS, in ms")
    parser.add_argument("--bytes", type=int, default=5000, help="size of an entry")
    parser.add_argument("--compile", type=float, default=8, help="time to compile a kernel, in ms")
    parser.add_argument("--between", type=float, default=1, help="time between a kernel and the next look-up, in ms")
    parser.add_argument("--requests", type=float, default=80000, help="requests per second that the server can answer")
    parser.add_argument("--gbit", type=float, default=10, help="bandwidth of its network, in Gbit/s")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fleet = Fleet(options)
    fleet.run()
    times = fleet.times
    at = lambda share: 1e3 * times[min(len(times) - 1, int(share * len(times)))]
    cold = options.kernels * options.compile * 1.2
    print(f"{options.hosts} hosts of {options.processes} processes{' apart' if options.apart else ''}, "
          f"{options.kernels} kernels of {options.bytes} bytes, {options.spread:g} s of starts, "
          f"bound {options.bound:g} ms, patience {options.patience:g} ms, seed {options.seed}")
    print(f"maximum requests per second {max(fleet.server.requests.values())}")
    print(f"maximum bytes per second    {max(fleet.server.bytes.values()) / 1e6:.1f} MB")
    max_compilations = options.hosts * options.processes * options.kernels
    print(f"compilations in the fleet   {sum(fleet.compilations)} of {max_compilations}, "
          f"at most {max(fleet.compilations)} of one kernel")
    print(f"start of a process          median {at(0.5):.0f} ms, 99th percentile {at(0.99):.0f} ms; "
          f"without a server {cold + options.kernels * options.between:.0f} ms")


if __name__ == "__main__":
    main()
