//===- OpenClSource.cpp - Plain OpenCL C for a problem --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel decomposes its index in the memory order of some tensor, including padding, and writes the value from
// OpenClValues.
//
//===----------------------------------------------------------------------===//
#include "OpenClSource.h"

#include "OpenClValues.h"
#include "Primitives/Reorder/Compensation.h"

#include <algorithm>
#include <stdexcept>

namespace quern::bench {

namespace {

/// Number of work-items in a group that shares a row or a channel.
constexpr size_t sharingItems = 256;

/// A part of a dim, with steps of `stride` elements in memory and of `unit` along the dim.
struct Level {
  int dim;
  int64_t extent, unit, stride;
};

/// A set of dims, one bit each.
using DimMask = uint32_t;
DimMask allOf(const TensorDesc &tensor) { return (1u << tensor.ndims) - 1; }
DimMask allBut(const TensorDesc &tensor, int axis) { return allOf(tensor) & ~(1u << axis); }

/// Returns the levels of some dims, the smallest stride first.
std::vector<Level> levelsOf(const TensorDesc &tensor, DimMask dims) {
  std::vector<Level> levels;
  int64_t inBlock[maxDims], stride = 1;
  std::fill_n(inBlock, maxDims, 1);
  for (int i = tensor.innerBlockCount - 1; i >= 0; --i) {
    auto dim = static_cast<int>(tensor.innerIndices[i]);
    levels.push_back({dim, tensor.innerBlocks[i], inBlock[dim], stride});
    inBlock[dim] *= tensor.innerBlocks[i];
    stride *= tensor.innerBlocks[i];
  }
  for (int d = 0; d < tensor.ndims; ++d)
    levels.push_back({d, tensor.paddedDims[d] / inBlock[d], inBlock[d], tensor.strides[d]});
  std::erase_if(levels, [&](const Level &level) { return !(dims >> level.dim & 1) || level.extent == 1; });
  std::sort(levels.begin(), levels.end(), [](const Level &a, const Level &b) { return a.stride < b.stride; });
  return levels;
}

int64_t countOf(const std::vector<Level> &levels) {
  int64_t count = 1;
  for (const Level &level : levels)
    count *= level.extent;
  return count;
}

/// Returns code that declares the indices i0, i1, … of some dims and computes them from an expression that counts
/// through their levels.
std::string indices(DimMask dims, const std::vector<Level> &levels, const std::string &from) {
  std::string text = "  uint at = " + from + ", digit;\n";
  for (int d = 0; d < maxDims; ++d)
    if (dims >> d & 1)
      text += "  uint i" + std::to_string(d) + " = 0;\n";
  for (const Level &level : levels)
    text += "  digit = at % " + std::to_string(level.extent) + "u; at /= " + std::to_string(level.extent) + "u; i" +
            std::to_string(level.dim) + " += digit * " + std::to_string(level.unit) + "u;\n";
  return text;
}

/// Returns a condition that the indices of some dims are those of an element and not of padding; empty: always true.
std::string inside(const TensorDesc &tensor, DimMask dims) {
  std::string text;
  for (int d = 0; d < tensor.ndims; ++d)
    if (dims >> d & 1 && tensor.paddedDims[d] != tensor.dims[d])
      text += (text.empty() ? "" : " && ") + ("i" + std::to_string(d) + " < " + std::to_string(tensor.dims[d]) + "u");
  return text;
}

std::string headOf(const OpenClValues &values) {
  return OpenClValues::helpers() + "kernel void k(" + values.parameters() + ") {\n";
}

/// Returns a kernel with two elements per work-item, which writes one byte.
OpenClSource packedReorder(const OpenClValues &values) {
  const TensorDesc &dst = values.tensor(arg::dst);
  const std::vector<Level> levels = levelsOf(dst, allOf(dst));
  if (dst.elements() % 2 || dst.bytes() * 2 != dst.elements())
    throw std::runtime_error("no plain kernel for bytes whose other half is padding");
  const bool isSigned = dst.dataType == DataType::S4;
  if (!isSigned && dst.dataType != DataType::U4)
    throw std::runtime_error("no plain kernel for " + std::string(nameOf(dst.dataType)));
  const std::string clamped = isSigned ? "clamp(convert_int_rte(v), -8, 7)" : "clamp(convert_int_rte(v), 0, 15)";
  OpenClSource source{"a byte to a work-item", headOf(values), static_cast<size_t>(dst.bytes())};
  source.text += "  uint byte = 0;\n  for (uint half_ = 0; half_ < 2; ++half_) {\n" +
                 indices(allOf(dst), levels, "get_global_id(0) * 2 + half_") +
                 "  float v = " + values.finished(arg::dst, values.loaded(arg::src)) + ";\n  byte |= (" + clamped +
                 " & 15) << half_ * 4;\n  }\n  " + values.nameOf(arg::dst) + "[get_global_id(0)] = byte;\n}\n";
  return source;
}

OpenClSource reorderInOrderOf(const OpenClValues &values, const TensorDesc &order, const std::string &what) {
  const TensorDesc &dst = values.tensor(arg::dst);
  const std::vector<Level> levels = levelsOf(order, allOf(order));
  OpenClSource source{what, headOf(values), static_cast<size_t>(countOf(levels))};
  const std::string exists = inside(order, allOf(order));
  const std::string value = values.finished(arg::dst, values.loaded(arg::src));
  source.text += indices(allOf(order), levels, "get_global_id(0)") + "  ";
  if (order.hasPadding() && &order != &dst)
    source.text += "if (" + exists + ") ";
  source.text +=
      values.stored(arg::dst, order.hasPadding() && &order == &dst ? "((" + exists + ") ? " + value + " : 0)" : value) +
      "\n}\n";
  return source;
}

/// The sums after the elements have one value for each index of some dims, such as output channels. The work-items of
/// an index compute all of its elements.
OpenClSource compensatedReorder(const OpenClValues &values, const reorder::Compensation &compensation, size_t group) {
  const TensorDesc &dst = values.tensor(arg::dst);
  const auto kept = static_cast<DimMask>(compensation.mask), summed = allOf(dst) & ~kept;
  const std::vector<Level> channels = levelsOf(dst, kept), within = levelsOf(dst, summed);
  const std::string exists = inside(dst, allOf(dst)), name = values.nameOf(arg::dst);
  const std::string value = values.finished(arg::dst, values.loaded(arg::src));
  std::string ordinal = "0";
  for (int d = 0; d < dst.ndims; ++d)
    if (kept >> d & 1)
      ordinal = "(" + ordinal + ") * " + std::to_string(dst.paddedDims[d]) + " + i" + std::to_string(d);
  OpenClSource source{group ? "a channel to a group" : "a channel to a work-item", headOf(values)};
  source.items = static_cast<size_t>(countOf(channels)) * std::max<size_t>(group, 1);
  source.group = group;
  source.text += indices(kept, channels, group ? "get_group_id(0)" : "get_global_id(0)") +
                 "  int sum = 0;\n  for (uint rest = " + (group ? "get_local_id(0)" : "0") + "; rest < " +
                 std::to_string(countOf(within)) + "; rest += " + (group ? "get_local_size(0)" : "1") + ") {\n" +
                 indices(summed, within, "rest") + "  " +
                 values.stored(arg::dst, exists.empty() ? value : "((" + exists + ") ? " + value + " : 0)") +
                 "\n  sum += " + name + "[" + openClOffset(dst) + "];\n  }\n" +
                 (group ? "  sum = work_group_reduce_add(sum);\n" : "") + "  ((global int *)(" + name + " + " +
                 std::to_string(compensation.byteOffset) + "))[" + ordinal + "] = sum * " +
                 std::to_string(compensation.factor) + ";\n}\n";
  return source;
}

std::vector<OpenClSource> compensatedReorders(const OpenClValues &values) {
  const std::vector<reorder::Compensation> all = reorder::compensationsOf(values.tensor(arg::dst));
  if (all.size() != 1 || all.front().type != DataType::S32)
    throw std::runtime_error("no plain kernel for two compensations, or those of an RNN");
  return {compensatedReorder(values, all.front(), 0), compensatedReorder(values, all.front(), sharingItems)};
}

std::vector<OpenClSource> reorderSources(const OpenClValues &values) {
  const TensorDesc &src = values.tensor(arg::src), &dst = values.tensor(arg::dst);
  if (dst.extras.flags)
    return compensatedReorders(values);
  if (bitsOf(dst.dataType) == 4)
    return {packedReorder(values)};
  std::vector<OpenClSource> sources = {reorderInOrderOf(values, dst, "in the order of dst")};
  if (!dst.hasPadding() && !src.samePlaces(dst))
    sources.push_back(reorderInOrderOf(values, src, "in the order of src"));
  return sources;
}

/// Generates the statements of a row. One work-item processes the whole row; with `inGroup`, the work-items of a group
/// share it.
class SoftmaxRow {
public:
  SoftmaxRow(const OpenClValues &values, const SoftmaxDesc &softmax, bool inGroup)
      : values(values), softmax(softmax), inGroup(inGroup), output(isForward(softmax.prop) ? arg::dst : arg::diffSrc),
        tensor(values.tensor(output)) {}

  std::string text() const {
    const std::string isRow = inside(tensor, allBut(tensor, softmax.axis));
    const int64_t length = tensor.dims[softmax.axis], padded = tensor.paddedDims[softmax.axis];
    std::string body = isForward(softmax.prop) ? forward(length) : backward(length);
    if (padded != length)
      body += loop(length, padded) + values.stored(output, "0") + "\n";
    return isRow.empty() ? body
                         : "  if (" + isRow + ") {\n" + body + "  } else {\n" + loop(0, padded) +
                               values.stored(output, "0") + "\n  }\n";
  }

private:
  std::string loop(int64_t from, int64_t to) const {
    const std::string i = "i" + std::to_string(softmax.axis);
    const std::string first = inGroup ? std::to_string(from) + " + get_local_id(0)" : std::to_string(from);
    return "  for (uint " + i + " = " + first + "; " + i + " < " + std::to_string(to) + "; " + i +
           (inGroup ? " += get_local_size(0)) " : " += 1) ");
  }
  std::string reduced(const char *name, const char *operation) const {
    return inGroup ? std::string("  ") + name + " = work_group_reduce_" + operation + "(" + name + ");\n" : "";
  }
  std::string forward(int64_t length) const {
    const std::string x = values.element(arg::src), real = values.real();
    const bool isLog = softmax.alg == Alg::SoftmaxLog;
    std::string body = "  " + real + " top = -INFINITY, sum = 0;\n" + loop(0, length) + "top = fmax(top, " + x +
                       ");\n" + reduced("top", "max");
    if (softmax.alg == Alg::SoftmaxAccurateInfAsZero)
      body += "  top = top == -INFINITY ? 0 : top;\n";
    body += loop(0, length) + "sum += exp(" + x + " - top);\n" + reduced("sum", "add");
    body += isLog                                          ? "  sum = log(sum);\n"
            : softmax.alg == Alg::SoftmaxAccurateInfAsZero ? "  sum = sum == 0 ? 0 : 1 / sum;\n"
                                                           : "  sum = 1 / sum;\n";
    const std::string result = (isLog ? "(" + x + " - top - sum)" : "(exp(" + x + " - top) * sum)") +
                               (values.scale(arg::src).empty() ? "" : " * " + values.scale(arg::src));
    return body + loop(0, length) + values.stored(output, values.finished(output, result)) + "\n";
  }
  std::string backward(int64_t length) const {
    const std::string y = values.loaded(arg::dst), dy = values.loaded(arg::diffDst);
    const bool isLog = softmax.alg == Alg::SoftmaxLog;
    return std::string("  ") + values.real() + " sum = 0;\n" + loop(0, length) +
           "sum += " + (isLog ? dy : dy + " * " + y) + ";\n" + reduced("sum", "add") + loop(0, length) +
           values.stored(output, isLog ? dy + " - exp(" + y + ") * sum" : y + " * (" + dy + " - sum)") + "\n";
  }

  const OpenClValues &values;
  const SoftmaxDesc &softmax;
  bool inGroup;

public:
  int32_t output; ///< number of the argument
  const TensorDesc &tensor;
};

OpenClSource softmaxSource(const OpenClValues &values, const SoftmaxDesc &softmax, size_t group) {
  const SoftmaxRow row(values, softmax, group > 0);
  const DimMask outer = allBut(row.tensor, softmax.axis);
  const std::vector<Level> levels = levelsOf(row.tensor, outer);
  OpenClSource source{group ? "a row to a group" : "a row to a work-item", headOf(values)};
  source.items = static_cast<size_t>(countOf(levels)) * std::max<size_t>(group, 1);
  source.group = group;
  source.text += indices(outer, levels, group ? "get_group_id(0)" : "get_global_id(0)") + row.text() + "}\n";
  return source;
}

std::vector<OpenClSource> softmaxSources(const OpenClValues &values, const SoftmaxDesc &softmax) {
  constexpr int64_t shortRow = 32;
  std::vector<OpenClSource> sources = {softmaxSource(values, softmax, 0)};
  if (const TensorDesc &tensor = isForward(softmax.prop) ? softmax.dst : softmax.diffSrc;
      tensor.dims[softmax.axis] >= shortRow)
    sources.push_back(softmaxSource(values, softmax, sharingItems));
  return sources;
}

} // namespace

std::vector<OpenClSource> openClSourcesFor(const BenchProblem &problem) {
  const OpenClValues values(problem);
  const auto &op = problem.verified.desc.op;
  if (std::holds_alternative<ReorderDesc>(op))
    return reorderSources(values);
  if (const auto *softmax = std::get_if<SoftmaxDesc>(&op))
    return softmaxSources(values, *softmax);
  throw std::runtime_error("no plain kernel for this primitive");
}

} // namespace quern::bench
