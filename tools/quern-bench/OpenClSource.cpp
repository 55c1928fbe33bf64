//===- OpenClSource.cpp - Plain OpenCL C for a problem --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Indices, offsets and conversions are written out with the problem's numbers as constants, so that the runtime's compiler sees all there
// is to see.
//
//===----------------------------------------------------------------------===//
#include "OpenClSource.h"

#include <stdexcept>

namespace quern::bench {

namespace {

constexpr size_t groupOfRow = 256;

const char *typeOf(DataType type) {
  switch (type) {
  case DataType::F32:
    return "float";
  case DataType::BF16:
    return "ushort";
  case DataType::F16:
    return "half";
  case DataType::S32:
    return "int";
  case DataType::S8:
    return "char";
  case DataType::U8:
    return "uchar";
  default:
    throw std::runtime_error("no plain kernel for " + std::string(nameOf(type)));
  }
}

/// As a float.
std::string loaded(DataType type, const std::string &place) {
  if (type == DataType::BF16)
    return "as_float((uint)" + place + " << 16)";
  return type == DataType::F16 ? "vload_half(0, &" + place + ")" : "(float)" + place;
}

std::string stored(DataType type, const std::string &place, const std::string &value) {
  if (type == DataType::F32)
    return place + " = " + value + ";";
  if (type == DataType::BF16)
    return place + " = to_bf16(" + value + ");";
  if (type == DataType::F16)
    return "vstore_half_rte(" + value + ", 0, &" + place + ");";
  return place + " = convert_" + typeOf(type) + "_sat_rte(" + value + ");";
}

/// Of the element with logical indices i0, i1, …
std::string offsetOf(const TensorDesc &tensor) {
  std::string text = std::to_string(tensor.offset0) + "L";
  int64_t inBlock[maxDims], stride = 1;
  std::fill_n(inBlock, maxDims, 1);
  for (int i = tensor.innerBlockCount - 1; i >= 0; --i) {
    int64_t dim = tensor.innerIndices[i], block = tensor.innerBlocks[i];
    text += " + (i" + std::to_string(dim) + " / " + std::to_string(inBlock[dim]) + "u % " + std::to_string(block) + "u) * " +
            std::to_string(stride) + "L";
    inBlock[dim] *= block;
    stride *= block;
  }
  for (int d = 0; d < tensor.ndims; ++d)
    text += " + (i" + std::to_string(d) + " / " + std::to_string(inBlock[d]) + "u) * " + std::to_string(tensor.strides[d]) + "L";
  return text;
}

/// Declares i0, i1, … from `at`, without `axis`, the last dim fastest.
std::string indicesFrom(const TensorDesc &tensor, int axis) {
  std::string text;
  for (int d = tensor.ndims - 1; d >= 0; --d)
    if (d != axis)
      text += "  uint i" + std::to_string(d) + " = at % " + std::to_string(tensor.dims[d]) + "u; at /= " + std::to_string(tensor.dims[d]) +
              "u;\n";
  return text;
}

void checkPlain(const Problem &problem) {
  const Attributes &attr = problem.verified.desc.attr;
  bool isPlain = attr.scales.empty() && attr.zeroPoints.empty() && attr.postOps.empty() && problem.verified.arguments.size() == 2;
  for (const ArgumentInfo &argument : problem.verified.arguments)
    isPlain &= !argument.desc.hasRuntimeDims() && !argument.desc.extras.flags && !(argument.isOutput && argument.desc.hasPadding());
  if (!isPlain)
    throw std::runtime_error("no plain kernel for attributes, padding, compensation or open sizes");
}

std::string headOf(const TensorDesc &src, const TensorDesc &dst) {
  return std::string("ushort to_bf16(float x) { uint u = as_uint(x); return x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16; }\n") +
         "kernel void k(global const " + typeOf(src.dataType) + " *src, global " + typeOf(dst.dataType) + " *dst) {\n";
}

OpenClSource reorderSource(const TensorDesc &src, const TensorDesc &dst) {
  OpenClSource source;
  source.items = static_cast<size_t>(dst.elements());
  source.text = headOf(src, dst) + "  uint at = get_global_id(0);\n" + indicesFrom(dst, -1);
  std::string from = "src[" + offsetOf(src) + "]", to = "dst[" + offsetOf(dst) + "]";
  source.text += src.dataType == dst.dataType ? "  " + to + " = " + from + ";\n}\n"
                                              : "  " + stored(dst.dataType, to, loaded(src.dataType, from)) + "\n}\n";
  return source;
}

OpenClSource softmaxSource(const SoftmaxDesc &softmax) {
  constexpr int64_t fewRows = 512, longRow = 256;
  const TensorDesc &src = softmax.src, &dst = softmax.dst;
  std::string axis = std::to_string(softmax.axis);
  int64_t length = src.dims[softmax.axis], rows = src.elements() / length;
  bool inGroups = rows < fewRows && length >= longRow;
  OpenClSource source;
  source.group = inGroups ? groupOfRow : 0;
  source.items = static_cast<size_t>(rows) * (inGroups ? groupOfRow : 1);
  std::string first = inGroups ? "get_local_id(0)" : "0", step = inGroups ? std::to_string(groupOfRow) : "1";
  std::string loop =
      "  for (uint i" + axis + " = " + first + "; i" + axis + " < " + std::to_string(length) + "; i" + axis + " += " + step + ") ";
  std::string x = loaded(src.dataType, "src[" + offsetOf(src) + "]"), to = "dst[" + offsetOf(dst) + "]";
  bool isLog = softmax.alg == Alg::SoftmaxLog;
  source.text =
      headOf(src, dst) + "  uint at = " + (inGroups ? "get_group_id(0)" : "get_global_id(0)") + ";\n" + indicesFrom(src, softmax.axis);
  source.text += "  float top = -INFINITY, sum = 0;\n" + loop + "top = fmax(top, " + x + ");\n";
  source.text += inGroups ? "  top = work_group_reduce_max(top);\n" : "";
  source.text += loop + "sum += exp(" + x + " - top);\n";
  source.text += inGroups ? "  sum = work_group_reduce_add(sum);\n" : "";
  source.text += isLog ? "  sum = log(sum);\n" : "  sum = 1 / sum;\n";
  std::string result = isLog ? x + " - top - sum" : "exp(" + x + " - top) * sum";
  source.text += loop + stored(dst.dataType, to, result) + "\n}\n";
  return source;
}

} // namespace

OpenClSource openClSourceFor(const Problem &problem) {
  checkPlain(problem);
  const auto &op = problem.verified.desc.op;
  if (const auto *reorder = std::get_if<ReorderDesc>(&op))
    return reorderSource(reorder->src, reorder->dst);
  const auto *softmax = std::get_if<SoftmaxDesc>(&op);
  if (!softmax || !isForward(softmax->prop) || softmax->alg == Alg::SoftmaxAccurateInfAsZero)
    throw std::runtime_error("no plain kernel for this primitive or algorithm");
  return softmaxSource(*softmax);
}

} // namespace quern::bench
