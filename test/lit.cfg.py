# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit's view of the tests: IR of every stage (.mlir) and command lines of every tool (.test).

Each test runs with its own empty disk cache and without any QUERN_* variable of the caller, so its outcome depends only
on the tree.
"""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from quern_lit import QuernTest  # noqa: E402



def runs(*command):
    """Returns the output of a command, or nothing if the command does not exist or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.stdout + "\n" if done.returncode == 0 else ""
    except (OSError, subprocess.SubprocessError):
        return ""


config.name = "Quern"
config.test_format = QuernTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "conformance", "consumer", "fuzz", "problems", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.quern_binary_dir, "test", "lit")

config.environment["PATH"] = os.path.pathsep.join(
    [os.path.join(config.quern_binary_dir, "bin"), config.llvm_tools_dir, os.environ.get("PATH", "/usr/bin:/bin")]
)
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

config.substitutions.append(("%root", config.quern_source_dir))
config.substitutions.append(("%build", config.quern_binary_dir))
config.substitutions.append(("%problems", os.path.join(config.test_source_root, "problems")))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%llvm_bin", config.llvm_tools_dir))
config.substitutions.append(("%mlir_libs", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")))

# REQUIRES: and UNSUPPORTED: may name the halves, the build's kind, the sanitizers, peers and
# what this machine's CPU runs.
if config.enable_compiler:
    config.available_features.add("compiler")
# mlir-opt loads the plugin, and with it the compiler, without a sanitizer's runtime.
if config.enable_compiler and not config.sanitizers and shutil.which("mlir-runner", path=config.llvm_tools_dir):
    config.available_features.add("mlir-plugin")
if os.path.exists(os.path.join(config.quern_binary_dir, "build.ninja")) and shutil.which("ninja"):
    config.available_features.add("ninja-build")
# Where a process may not be traced or sampled, as in some containers, gdb starts none, and perf fails.
if "exited normally" in runs("gdb", "-q", "-nx", "-batch", "-ex", "run", "/bin/true"):
    config.available_features.add("gdb")
if runs("perf", "record", "-q", "-e", "cpu-clock:u", "-o", os.devnull, "/bin/true"):
    config.available_features.add("perf")
# Pages are opened in it.
if shutil.which("chromium"):
    config.available_features.add("browser")
# Programs of this build run in an emulator: what starts itself again, or is linked by a test itself, does not.
if config.emulator:
    config.available_features.add("emulated")
for sanitizer in filter(None, config.sanitizers.split(",")):
    config.available_features.add(sanitizer)
# Peers and test drivers that are installed: intel-opencl is the OpenCL runtime and the Level Zero driver over it.
if all(
    os.path.exists(path)
    for path in (
        os.path.join(config.quern_source_dir, "build", "peers", "intel-opencl", "lib", "libintelocl.so"),
        os.path.join(config.quern_binary_dir, "lib", "tests", "libze_over_opencl.so"),
    )
):
    config.available_features.add("intel-opencl")


def cpuLevels():
    """Returns the levels from avx2 to avx512_core_fp16 that /proc/cpuinfo has, and those that it lacks."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        flags = next((set(line.split()) for line in info if line.startswith("flags")), set())
    levels = [
        ("avx2", {"avx2", "fma", "f16c"}),
        ("avx512_core", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
        ("avx512_core_vnni", {"avx512_vnni"}),
        ("avx512_core_bf16", {"avx512_bf16"}),
        ("avx512_core_fp16", {"avx512_fp16"}),
    ]
    names = [name for name, _ in levels]
    count = next((i for i, (_, needed) in enumerate(levels) if not needed <= flags), len(levels))
    return names[:count], names[count:]


present, lacking = cpuLevels()
config.available_features.update(present)
# `--check --target=LEVEL` and `--time --target=LEVEL` run a kernel. If the machine lacks LEVEL, its widest level is
# used instead. Results are therefore checked on every machine, and the code of a level on machines that have the level.
if present and lacking:
    level = "|".join(sorted(lacking, key=len, reverse=True))
    for runs in ("--check", "--time"):
        config.substitutions.append((rf"(?<={runs} )--target=(?:{level})\b", f"--target={present[-1]}"))
