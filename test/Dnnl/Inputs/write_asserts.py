# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a C++ program that compiles if every value and size of Quern equals oneDNN's.

  write_asserts.py ROOT GENUINE_INCLUDE OUTPUT

A value of oneDNN that libquern does not have must be in a group that is listed here with its reason, so that
new values are noticed.
"""

import glob
import os
import re
import sys

from headers import GENUINE_TYPES, pathsOf, readEnumerators, readMacros

# Enumerators of oneDNN (without prefix) that libquern does not have, and why.
ELSEWHERE = [
    (r".*_(max|last)", "ends of enumerations"),
    (r"invalid_(graph|graph_op|shape|data_type)", "the graph interface"),
    (r"format_kind_opaque|grouped", "tensors that Quern does not have"),
    (r"host_scalar", "host scalars"),
    (r"(shuffle|convolution|deconvolution|lrn|batch_normalization|inner_product|matmul|resampling|pooling|"
     r"reduction|layer_normalization|group_normalization)", "primitives that Quern does not have"),
    (r"(convolution|deconvolution|pooling|lrn|resampling|reduction)_.*", "their algorithms"),
    (r"(normalization_flags_none|use_global_stats|use_scale|use_shift|fuse_norm_relu|fuse_norm_add_relu|rms_norm)",
     "their flags"),
    (r"rounding_mode_.*|quantization_mode_.*", "attributes that Quern does not have"),
    (r"cpu_isa_(no_hints|prefer_ymm)", "hints"),
    (r"cpu_isa_avx10_2.*", "no code for these yet"),
    (r"query_.*_d", "descriptors of other primitives"),
    (r"query_(dilations|kernel|group_size_s64|p_f32|epsilon_f32|local_size_s64|k_f32|factors|padding_[lr]|"
     r"max_s32|num_of.*|variable_.*|group_.*)", "queries of other primitives"),
]
# Names that only libquern has.
OURS = [r"internal_error", r"f4_e3m0", r"mlir", r"softmax_accurate_inf_as_zero", r"memory_extra_flag_.*",
        r"(form|origin|event|tiers)_.*", r"cpu_isa_(neon|sve).*", r"rnn_flags_stack_concatenated"]
MACROS_ELSEWHERE = [
    r"ARG_(REDUCE|MEAN|VARIANCE|SCALE|SHIFT|DIFF_SCALE|DIFF_SHIFT|HINT_.*|MULTIPLE_DST|ATTR_DROPOUT.*|ATTR_ROUNDING.*)",
    r"ARG_ATTR_(PRECOMPUTED_REDUCTIONS|OUTPUT_SCALES|POST_OP_DW)",
    r"RUNTIME_(F32|S32)_VAL.*",
    r"JIT_PROFILE_.*",
]
SIZES = """
template <typename Ours, typename Theirs>
constexpr bool sameSize = sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
static_assert(sameSize<quern_exec_arg_t, dnnl_exec_arg_t>);
static_assert(offsetof(quern_exec_arg_t, memory) == offsetof(dnnl_exec_arg_t, memory));
static_assert(sameSize<quern_version_t, dnnl_version_t>);
static_assert(offsetof(quern_version_t, hash) == offsetof(dnnl_version_t, hash));
static_assert(offsetof(quern_version_t, gpu_runtime) == offsetof(dnnl_version_t, gpu_runtime));
static_assert(sameSize<quern_dims_t, dnnl_dims_t> && sameSize<quern_dim_t, dnnl_dim_t>);
static_assert(DNNL_MEMORY_NONE == QUERN_MEMORY_NONE);
using OurPool = quern::threadpool_interop::threadpool_iface;
using TheirPool = dnnl::threadpool_interop::threadpool_iface;
static_assert(sizeof(OurPool) == sizeof(TheirPool) && OurPool::ASYNCHRONOUS == TheirPool::ASYNCHRONOUS);
int main() { return DNNL_MEMORY_ALLOCATE == QUERN_MEMORY_ALLOCATE ? 0 : 1; }
"""


def isListed(name, patterns):
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def main():
    root, include, output = sys.argv[1:]
    folder = os.path.join(include, "oneapi/dnnl")
    theirs = readEnumerators(pathsOf(folder, GENUINE_TYPES))
    ourHeaders = glob.glob(os.path.join(root, "include/quern/quern*.h"))
    ours = {name for items in readEnumerators(ourHeaders).values() for name in items}
    lines, wrong, seen = [], [], set()
    for enum, items in theirs.items():
        lines.append(f"static_assert(sizeof({enum}) == sizeof(int));")
        for name in items:
            short = name.removeprefix("dnnl_")
            seen.add("quern_" + short)
            if "quern_" + short in ours:
                lines.append(f"static_assert(int({name}) == int(quern_{short}));")
            elif enum != "dnnl_format_tag_t" and not isListed(short, [pattern for pattern, _ in ELSEWHERE]):
                wrong.append(f"{name} of {enum} is neither in libquern nor listed")
    wrong += [f"{name} is not in oneDNN"
              for name in sorted(ours - seen) if not isListed(name.removeprefix("quern_"), OURS)]
    ourMacros = readMacros(ourHeaders, "QUERN_")
    for name in readMacros(pathsOf(folder, GENUINE_TYPES), "DNNL_(?:ARG|MAX|JIT|RUNTIME)_"):
        short = name.removeprefix("DNNL_")
        if "QUERN_" + short in ourMacros:
            lines.append(f"static_assert({name} == QUERN_{short});")
        elif not isListed(short, MACROS_ELSEWHERE):
            wrong.append(f"{name} is neither in libquern nor listed")
    for line in wrong:
        print(line)
    print(f"{len(lines)} values, {len(wrong)} wrong")
    with open(output, "w", encoding="utf-8") as file:
        file.write('#include "oneapi/dnnl/dnnl.h"\n#include "oneapi/dnnl/dnnl_threadpool_iface.hpp"\n')
        file.write('#include "quern/quern.h"\n#include "quern/quern_threadpool_iface.hpp"\n#include <cstddef>\n')
        file.write("\n".join(lines) + SIZES)
    sys.exit(1 if wrong else 0)


main()
