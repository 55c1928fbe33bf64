//===- Spirv.cpp - The kernels of a SPIR-V module --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Modules.h"

#include <algorithm>
#include <map>
#include <span>

namespace zocl {
namespace {

// Opcodes and enumerants of the SPIR-V specification.
enum Op : uint32_t {
  OpEntryPoint = 15,
  OpExecutionMode = 16,
  OpTypeInt = 21,
  OpTypeFloat = 22,
  OpTypePointer = 32,
  OpTypeFunction = 33,
  OpFunction = 54,
  OpFunctionEnd = 56
};
constexpr uint32_t magic = 0x07230203, kernelModel = 6, localSizeMode = 17, subgroupSizeMode = 35;

/// Takes the instructions that say what kernels there are.
class Reader {
public:
  explicit Reader(std::vector<KernelInfo> &kernels) : kernels(kernels) {}

  std::string read(const std::vector<uint32_t> &words) {
    if (words.size() < 6 || words[0] != magic)
      return "not a SPIR-V module\n";
    for (size_t at = 5; at < words.size();) {
      const uint32_t count = words[at] >> 16;
      if (!count || at + count > words.size())
        return "the SPIR-V module ends within an instruction\n";
      if (!take(words[at] & 0xffff, std::span(words).subspan(at + 1, count - 1)))
        return "unsupported type of a kernel argument\n";
      at += count;
    }
    return openFunctions ? "a SPIR-V function does not end\n" : "";
  }

private:
  bool take(uint32_t op, std::span<const uint32_t> w) {
    if (op == OpFunctionEnd)
      --openFunctions;
    else if (op == OpEntryPoint && w.size() > 2 && w[0] == kernelModel) {
      const auto *name = reinterpret_cast<const char *>(&w[2]);
      entries[w[1]] = kernels.size();
      kernels.emplace_back().name.assign(name, strnlen(name, (w.size() - 2) * 4));
    } else if (op == OpExecutionMode && w.size() > 2 && entries.count(w[0])) {
      KernelInfo &kernel = kernels[entries[w[0]]];
      if (w[1] == localSizeMode && w.size() == 5)
        std::copy_n(&w[2], 3, kernel.groupSize.begin());
      if (w[1] == subgroupSizeMode)
        kernel.subGroupSize = w[2];
    } else if ((op == OpTypeInt || op == OpTypeFloat) && w.size() > 1)
      types[w[0]] = {false, w[1] / 8};
    else if (op == OpTypePointer && w.size() > 2)
      types[w[0]] = {true, sizeof(void *)};
    else if (op == OpTypeFunction && w.size() > 1)
      signatures[w[0]].assign(w.begin() + 2, w.end());
    else if (op == OpFunction && w.size() == 4) {
      ++openFunctions;
      return !entries.count(w[1]) || takeArguments(kernels[entries[w[1]]], w[3]);
    }
    return true;
  }

  bool takeArguments(KernelInfo &kernel, uint32_t signature) {
    for (uint32_t type : signatures[signature])
      kernel.arguments.push_back(types[type]);
    return std::all_of(kernel.arguments.begin(), kernel.arguments.end(), [](const auto &argument) { return argument.size > 0; });
  }

  std::vector<KernelInfo> &kernels;
  std::map<uint32_t, KernelInfo::Argument> types; ///< size 0: not the type of an argument
  std::map<uint32_t, std::vector<uint32_t>> signatures;
  std::map<uint32_t, size_t> entries; ///< function id to kernel
  int openFunctions = 0;
};

} // namespace

std::string readKernels(const std::vector<uint32_t> &words, std::vector<KernelInfo> &kernels) { return Reader(kernels).read(words); }

} // namespace zocl
