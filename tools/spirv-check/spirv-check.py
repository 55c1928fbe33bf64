#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the SPIR-V of a list of problems with its consumers, without a device.

  tools/spirv-check/spirv-check.py [OPTION…] [LIST]

LIST (default: test/Targets/Spirv/kernels.list) has one problem per line; `[TARGET]` sets the target of the lines
below it. The checks:

  val      spirv-val accepts the module, and it imports no function
  ocloc    Intel's offline compiler, for every device with the properties that the module requires: each kernel has
           its name, the sub-group size and the group that the module requires, its work-group memory and barriers,
           and no spills or private memory
  capture  Intel's Level Zero driver, without hardware, builds the module and records launches of every kernel
  races    oclgrind runs kernels without sub-groups over zeros, without a data race or an access outside of a buffer

--self-test uses kernels with intentional errors, each of which one of the checks must refuse. The last line is
"N passed, N failed" over problems and checks. `tools/deps.sh --spirv-check` installs the required packages.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import threading

import capture
import module
import races

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(ROOT, "test/Targets/Spirv/kernels.list")
LEAST_KERNELS = 60  # minimum for the whole list
CHECKS = ("val", "ocloc", "capture", "races")
# For each device for which ocloc compiles here: the sub-group sizes, and whether it has f64.
DEVICES = {"skl": ((8, 16, 32), True), "tgllp": ((8, 16, 32), False), "dg2": ((8, 16, 32), False),
           "pvc": ((16, 32), True)}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def check_val(path, read):
    done = run("spirv-val", "--target-env", "spv1.3" if version_of(path) <= 0x10300 else "spv1.4", path)
    if done.returncode:
        return (done.stdout + done.stderr).strip().splitlines()[0]
    return f"imports {', '.join(read.imports)}" if read.imports else None


def version_of(path):
    with open(path, "rb") as file:
        return int.from_bytes(file.read(8)[4:], "little")


def zebin_kernels(info):
    """Returns the values in `.ze_info` of each kernel by name, as text."""
    body = info.split("kernels_misc_info:")[0]
    found = {}
    for part in re.split(r"\n\s*- name:\s+", body)[1:]:
        name = part.split("\n")[0].strip()
        found[name] = dict(re.findall(r"(simd_size|slm_size|barrier_count|required_work_group_size):\s+(.*)", part))
        found[name]["memory"] = re.findall(r"usage:\s+(\w+)", part.split("per_thread_memory_buffers")[1]) if (
            "per_thread_memory_buffers" in part) else []
    return found


def compare(kernel, made):
    """Returns a property of the compiled kernel that contradicts its module, or None."""
    if made is None:
        return "is missing"
    simd, slm = int(made.get("simd_size", 0)), int(made.get("slm_size", 0))
    if kernel.sub_group and simd != kernel.sub_group:
        return f"has sub-groups of {simd}, not of {kernel.sub_group}"
    if kernel.group and made.get("required_work_group_size") != f"[ {', '.join(map(str, kernel.group))} ]":
        return f"has groups of {made.get('required_work_group_size')}, not of {kernel.group}"
    if not kernel.memory_bytes <= slm <= kernel.memory_bytes + 64 * kernel.memories:
        return f"has {slm} bytes of work-group memory, not {kernel.memory_bytes}"
    if int(made.get("barrier_count", 0)) != int(kernel.barriers):
        return f"has {made.get('barrier_count', 0)} barriers, its module {int(kernel.barriers)}"
    return f"has {' and '.join(made['memory'])} memory: a spill or a private array" if made["memory"] else None


def check_ocloc(path, read):
    compiled = False
    with tempfile.TemporaryDirectory() as directory:
        for device, (sizes, has_f64) in DEVICES.items():
            if (read.has_f64 and not has_f64) or any(k.sub_group and k.sub_group not in sizes for k in read.kernels):
                continue
            done = run("ocloc", "compile", "-spirv_input", "-file", path, "-device", device, "-internal_options",
                       "-ze-intel-allow-zebin", "-out_dir", directory, "-output", device)
            made = [os.path.join(directory, f) for f in os.listdir(directory)
                    if f.startswith(device) and f.endswith(".bin")]
            if done.returncode or not made:
                return f"{device}: " + " ".join((done.stdout + done.stderr).split())[-300:]
            text = run("readelf", "-p", ".ze_info", made[0]).stdout
            info = "\n".join(re.sub(r"^ +\[ *[0-9a-f]+\] ", "", line).removesuffix("\\n") for line in text.splitlines())
            found, compiled = zebin_kernels(info), True
            for kernel in read.kernels:
                if wrong := compare(kernel, found.get(kernel.name)):
                    return f"{device}: {kernel.name} {wrong}"
    return None if compiled else "no device has the capabilities that the module requires"


def check_capture(paths):
    """Returns the errors of the modules that the driver refuses, by path."""
    def ask(settings):
        with tempfile.TemporaryDirectory() as directory:  # the recordings are written to the working directory
            return run(sys.executable, os.path.join(HERE, "capture.py"), *paths, cwd=directory,
                       env={**os.environ, **capture.SETTINGS, **settings})

    wrong = {}
    for product, done in zip(capture.PRODUCTS, at_once(ask, capture.PRODUCTS.values())):
        lines = done.stdout.splitlines()
        for path in paths:
            said = next((l[len(path) + 2 :] for l in lines if l.startswith(path + ": ")), None)
            if f"ok {path}" not in lines and f"lacks {path}" not in lines:
                wrong.setdefault(path, f"{product}: {said or 'the driver ended: ' + done.stderr.strip()[-200:]}")
    return wrong


def check_races(spirv, read, launches):
    """Returns (error or None, number of kernels that ran)."""
    count = 0
    for kernel in read.kernels:
        launch = launches.get(kernel.name)
        if read.uses_sub_groups or not launch or not kernel.group:
            continue
        with tempfile.TemporaryDirectory() as directory:
            if wrong := races.check(spirv, kernel, launch, directory):
                return f"{kernel.name}: {wrong}", count
        count += 1
    return None, count


def at_once(function, items):
    """Returns function(item) for each item, in order. Runs one per CPU at a time; other processes do the work."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


class Tally:
    def __init__(self):
        self.passed, self.failed, self.kernels, self.raced = 0, 0, 0, 0
        self.lock = threading.Lock()

    def count(self, kernels=0, raced=0):
        with self.lock:
            self.kernels += kernels
            self.raced += raced

    def note(self, what, check, wrong):
        with self.lock:
            if wrong:
                self.failed += 1
                print(f"FAILED  {check:8} {what}\n        {wrong}", flush=True)
            else:
                self.passed += 1


def read_list(path, only):
    target = "spirv64"
    with open(path) as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                target = line.strip("[]")
            elif line and only in line:
                yield target, line


def check_module(path, what, checks, launches, tally):
    """Runs the requested checks except the capture. Returns whether the module can be read."""
    with open(path, "rb") as file:
        spirv = file.read()
    try:
        read = module.read(spirv)
    except ValueError as wrong:
        tally.note(what, "val", str(wrong))
        return False
    tally.count(kernels=len(read.kernels))
    if "val" in checks:
        tally.note(what, "val", check_val(path, read))
    if "ocloc" in checks:
        tally.note(what, "ocloc", check_ocloc(path, read))
    if "races" in checks:
        wrong, count = check_races(spirv, read, launches())
        tally.count(raced=count)
        if wrong or count:
            tally.note(what, "races", wrong)
    return True


def check_list(options, tally):
    with tempfile.TemporaryDirectory() as directory:
        def check(problem):
            i, (target, line) = problem
            path = os.path.join(directory, f"{i}.spv")
            made = run(options.quern, "compile", line, f"--target={target}", "--emit=spirv", "-o", path)
            if made.returncode:
                tally.note(line, "compile", made.stderr.strip() or f"status {made.returncode}")
                return None
            scheduled = lambda: races.launches(
                run(options.quern, "dump", line, f"--target={target}", "--stage=schedule").stdout)
            return (path, line) if check_module(path, line, options.checks, scheduled, tally) else None

        paths = dict(filter(None, at_once(check, enumerate(read_list(options.list, options.only)))))
        if "capture" in options.checks and paths:
            wrong = check_capture(list(paths))
            for path, line in paths.items():
                tally.note(line, "capture", wrong.get(path))


# ---- Kernels with intentional errors: source, and the check that must report it. `fine` must pass all checks.
_HEAD = "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(global float *b, global const float *c) {"
_TURN = "local float t[64]; int l = get_local_id(0), g = get_global_id(0); t[l] = c[g]; %s b[g%s] = t[63 - l]; }"
PLANTED = {
    "fine": ("", _HEAD + _TURN % ("barrier(CLK_LOCAL_MEM_FENCE);", "")),
    "race": ("races", _HEAD + _TURN % ("", "")),
    "outside": ("races", _HEAD + _TURN % ("barrier(CLK_LOCAL_MEM_FENCE);", " + 1")),
    "spill": ("ocloc", _HEAD + "float t[200]; int g = get_global_id(0);\n"
              "#pragma unroll\nfor (int i = 0; i < 200; ++i) t[i] = c[g + 64 * i];"
              "barrier(CLK_GLOBAL_MEM_FENCE);\n"
              "#pragma unroll\nfor (int i = 0; i < 200; ++i) b[g + 64 * i] = t[(i * 7) % 200]; }"),
    "private": ("ocloc", _HEAD + "float t[64]; int g = get_global_id(0); for (int i = 0; i < 64; ++i) t[i] = c[g + i];"
                "float s = 0; for (int i = 0; i < 64; ++i) s = s * t[(int)c[i] & 63]; b[g] = s; }"),
    "import": ("val capture", "float absent(float); " + _HEAD + "b[0] = absent(c[0]); }"),
}


def check_planted(tally):
    with tempfile.TemporaryDirectory() as directory:
        for name, (refusing, source) in PLANTED.items():
            path = os.path.join(directory, name + ".spv")
            made = run("clang-22", "--target=spirv64-unknown-unknown", "-fintegrated-objemitter", "-x", "cl",
                       "-cl-std=CL2.0", "-O2", "-c", "-", "-o", path, input=source)
            if made.returncode:
                tally.note(name, "clang", made.stderr.strip())
                continue
            with open(path, "rb") as file:
                spirv = file.read()
            read = module.read(spirv)
            launch = {"k": races.Launch("k", 2, [512, 512])}
            said = {"val": check_val(path, read)}
            if refusing in ("", "ocloc"):
                said["ocloc"] = check_ocloc(path, read)
            if refusing in ("", "races"):
                said["races"] = check_races(spirv, read, launch)[0]
            if not refusing or "capture" in refusing:
                said["capture"] = check_capture([path]).get(path)
            for check, wrong in said.items():
                if check in refusing.split():
                    print(f"{name}: {check} says: {wrong}")
                    wrong = None if wrong else "was not refused"
                tally.note(name, check, wrong)
            if name == "fine":
                check_expectations(path, spirv, tally)
                check_cut(spirv, path, tally)


def check_expectations(path, spirv, tally):
    """Checks that ocloc's result is refused for a kernel of another name, sub-group, group, memory or barriers."""
    for field, value in (("name", "other"), ("sub_group", 8), ("group", (32, 1, 1)), ("memory_bytes", 4096),
                         ("barriers", False)):
        read = module.read(spirv)
        setattr(read.kernels[0], field, value)
        wrong = check_ocloc(path, read)
        print(f"another {field}: ocloc says: {wrong}")
        tally.note(f"another {field}", "ocloc", None if wrong else "was not refused")


def check_cut(spirv, path, tally):
    """Checks that a truncated module is refused."""
    for end in (len(spirv) - 6, 4 * (5 + sum(len(words) for _, words in list(module.instructions(spirv))[:-3]))):
        with open(path, "wb") as file:
            file.write(spirv[:end])
        inner = Tally()
        devnull = open(os.devnull, "w")
        out, sys.stdout = sys.stdout, devnull
        check_module(path, "cut", ("val",), dict, inner)
        sys.stdout = out
        tally.note(f"the first {end} bytes", "val", None if inner.failed else "was not refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", nargs="?", default=LIST)
    parser.add_argument("--quern", default=os.path.join(ROOT, "build/release/bin/quern"))
    parser.add_argument("--only", default="", help="only problems that contain this text")
    parser.add_argument("--checks", default=",".join(CHECKS), help="checks to run, from " + ",".join(CHECKS))
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    options.checks = options.checks.split(",")
    if unknown := set(options.checks) - set(CHECKS):
        parser.error(f"unknown check '{unknown.pop()}': {', '.join(CHECKS)} are known")
    tally = Tally()
    check_planted(tally) if options.self_test else check_list(options, tally)
    is_whole = not options.self_test and not options.only and options.list == LIST
    if is_whole and tally.kernels < LEAST_KERNELS:
        tally.note(options.list, "count", f"{tally.kernels} kernels are fewer than {LEAST_KERNELS}")
    if not options.self_test:
        print(f"{tally.kernels} kernels, {tally.raced} of them run by oclgrind")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
