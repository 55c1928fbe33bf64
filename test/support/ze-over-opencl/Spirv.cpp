//===- Spirv.cpp - The kernels of a SPIR-V module --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Spirv.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace zocl {
namespace {

// Opcodes and enumerants of the SPIR-V specification.
enum Op : uint32_t {
  OpEntryPoint = 15,
  OpExecutionMode = 16,
  OpTypeBool = 20,
  OpTypeInt = 21,
  OpTypeFloat = 22,
  OpTypeVector = 23,
  OpTypePointer = 32,
  OpTypeFunction = 33,
  OpFunction = 54,
  OpFunctionEnd = 56
};
constexpr uint32_t magic = 0x07230203, kernelModel = 6, localSizeMode = 17, subgroupSizeMode = 35, workgroupStorage = 4, privateStorage = 7;

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
    if (op == OpEntryPoint && w.size() > 2 && w[0] == kernelModel) {
      const auto *name = reinterpret_cast<const char *>(&w[2]);
      entries[w[1]] = kernels.size();
      kernels.emplace_back().name.assign(name, strnlen(name, (w.size() - 2) * 4));
    } else if (op == OpExecutionMode && w.size() > 2 && entries.count(w[0])) {
      KernelInfo &kernel = kernels[entries[w[0]]];
      if (w[1] == localSizeMode && w.size() == 5)
        std::copy_n(&w[2], 3, kernel.groupSize);
      if (w[1] == subgroupSizeMode)
        kernel.subGroupSize = w[2];
    } else if (op == OpFunction && w.size() == 4) {
      ++openFunctions;
      return !entries.count(w[1]) || takeArguments(kernels[entries[w[1]]], w[3]);
    } else {
      takeType(op, w);
    }
    return true;
  }

  void takeType(uint32_t op, std::span<const uint32_t> w) {
    if (op == OpTypeBool && !w.empty())
      types[w[0]] = {KernelArgument::Value, 1};
    else if ((op == OpTypeInt || op == OpTypeFloat) && w.size() > 1)
      types[w[0]] = {KernelArgument::Value, w[1] / 8};
    else if (op == OpTypeVector && w.size() > 2)
      types[w[0]] = {KernelArgument::Value, types[w[1]].size * (w[2] == 3 ? 4 : w[2])};
    else if (op == OpTypePointer && w.size() > 2)
      types[w[0]] = {w[1] == workgroupStorage ? KernelArgument::Local : KernelArgument::Pointer,
                     w[1] == privateStorage ? 0 : sizeof(void *)};
    else if (op == OpTypeFunction && w.size() > 1)
      signatures[w[0]].assign(w.begin() + 2, w.end());
  }

  bool takeArguments(KernelInfo &kernel, uint32_t signature) {
    for (uint32_t type : signatures[signature]) {
      if (!types[type].size)
        return false;
      kernel.arguments.push_back(types[type]);
    }
    return true;
  }

  std::vector<KernelInfo> &kernels;
  std::map<uint32_t, KernelArgument> types; ///< size 0: not the type of an argument
  std::map<uint32_t, std::vector<uint32_t>> signatures;
  std::map<uint32_t, size_t> entries; ///< function id to kernel
  int openFunctions = 0;
};

} // namespace

std::string readKernels(const std::vector<uint32_t> &words, std::vector<KernelInfo> &kernels) { return Reader(kernels).read(words); }

} // namespace zocl
