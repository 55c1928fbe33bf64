//===- VerboseParts.cpp - Tensors and attributes in verbose lines ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parts of a tensor: name, type, flags (a: the layout was `any`; p: padded; o: padded at the start; 0: it starts
// after the start of the buffer), format kind, layout, strides if there are gaps, extras. Attributes that are not the
// default are separated by blanks.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"
#include "Dnnl/Verbose.h"

#include "Desc/Tensor/TensorDesc.h"

#include <algorithm>
#include <vector>

using quern::TensorDesc;
using namespace quern::dropin;

namespace {

TensorDesc layoutOf(const_quern_memory_desc_t desc) {
  TensorDesc layout;
  size_t bytes = sizeof(layout);
  if (desc)
    quern_memory_desc_get_blob(reinterpret_cast<uint8_t *>(&layout), &bytes, desc);
  return layout;
}

std::vector<int64_t> blocksOf(const TensorDesc &desc) {
  std::vector<int64_t> blocks(static_cast<size_t>(desc.ndims), 1);
  for (int b = 0; b < desc.innerBlockCount; ++b)
    blocks[static_cast<size_t>(desc.innerIndices[b])] *= desc.innerBlocks[b];
  return blocks;
}

/// Returns the layout as a tag: dims by descending strides, strides of 0 first, and among equal strides the dims with
/// more blocks first.
std::string tagOf(const TensorDesc &desc) {
  const std::vector<int64_t> blocks = blocksOf(desc);
  std::vector<int> order(static_cast<size_t>(desc.ndims));
  for (int d = 0; d < desc.ndims; ++d) {
    if (desc.strides[d] == QUERN_RUNTIME_DIM_VAL)
      return "*";
    order[static_cast<size_t>(d)] = d;
  }
  const auto outer = [&](int d) { return desc.paddedDims[d] / blocks[static_cast<size_t>(d)]; };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto strideOfA = static_cast<uint64_t>(desc.strides[a] - 1),
               strideOfB = static_cast<uint64_t>(desc.strides[b] - 1);
    if (strideOfA != strideOfB)
      return strideOfA > strideOfB;
    return outer(a) != outer(b) ? outer(a) > outer(b) : a < b;
  });
  std::string tag;
  for (int d : order)
    tag += static_cast<char>((blocks[static_cast<size_t>(d)] == 1 ? 'a' : 'A') + d);
  for (int b = 0; b < desc.innerBlockCount; ++b)
    tag += std::to_string(desc.innerBlocks[b]) + static_cast<char>('a' + desc.innerIndices[b]);
  return tag;
}

/// Returns the strides; empty if the elements have no gaps, or if that is unknown.
std::string stridesOf(const TensorDesc &desc) {
  const std::vector<int64_t> blocks = blocksOf(desc);
  int64_t inner = 1, elements = 1, span = 1;
  for (int b = 0; b < desc.innerBlockCount; ++b)
    inner *= desc.innerBlocks[b];
  std::string text;
  for (int d = 0; d < desc.ndims; ++d) {
    const int64_t padded = desc.paddedDims[d], stride = desc.strides[d];
    if (padded == QUERN_RUNTIME_DIM_VAL || stride == QUERN_RUNTIME_DIM_VAL || padded == 0)
      return "";
    elements *= padded;
    span = std::max(span, padded / blocks[static_cast<size_t>(d)] * stride);
    text += (d ? "x" : "") + std::to_string(stride);
  }
  return elements == std::max(span, inner) ? "" : text;
}

std::string extrasOf(const quern::TensorExtras &extras) {
  std::string text = ":f" + std::to_string(extras.flags);
  if (extras.flags & quern::ExtraS8S8)
    text += ":s8m" + std::to_string(extras.compensationMask);
  if (extras.flags & quern::ExtraAsymmetricSource)
    text += ":zpm" + std::to_string(extras.asymmetricCompensationMask);
  if (extras.flags & quern::ExtraScaleAdjust && extras.scaleAdjust != 1)
    text += ":sa" + textOf(extras.scaleAdjust);
  return text;
}

std::string flagsOf(const TensorDesc &desc, bool wasAny) {
  bool isPadded = false, isShifted = false;
  for (int d = 0; d < desc.ndims; ++d) {
    isPadded |= desc.paddedDims[d] != desc.dims[d];
    isShifted |= desc.paddedOffsets[d] != 0;
  }
  return std::string(wasAny ? "a" : "") + (isPadded ? "p" : "") + (isShifted ? "o" : "") + (desc.offset0 ? "0" : "");
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

constexpr int firstOfMany = 1024; ///< argument of the first source of sum and concat

std::string nameOfArgument(int argument) {
  if (argument >= QUERN_ARG_ATTR_MULTIPLE_POST_OP_BASE)
    return "po" + std::to_string(argument / QUERN_ARG_ATTR_MULTIPLE_POST_OP_BASE - 1);
  if (argument >= firstOfMany)
    return "msrc" + std::to_string(argument - firstOfMany);
  return argument == QUERN_ARG_DST       ? "dst"
         : argument == QUERN_ARG_WEIGHTS ? "wei"
                                         : "src" + std::to_string(argument - QUERN_ARG_SRC);
}

using QuantGetter = decltype(&quern_primitive_attr_get_scales);

/// Returns scales or zero points, such as "src0:0:f32+dst:2:f32:16x1".
std::string quantizationOf(const_quern_primitive_attr_t attr, QuantGetter get, int flag, int sources, int postOps) {
  std::vector<int> arguments = {QUERN_ARG_SRC_0, QUERN_ARG_SRC_1, QUERN_ARG_SRC_2, QUERN_ARG_DST, QUERN_ARG_WEIGHTS};
  for (int source = 0; source < sources; ++source)
    arguments.push_back(firstOfMany + source);
  for (int op = 0; op < postOps; ++op)
    arguments.push_back(QUERN_ARG_ATTR_MULTIPLE_POST_OP(op) | QUERN_ARG_SRC_1);
  std::string text;
  for (int argument : arguments) {
    int mask = 0, groupCount = 0;
    quern_dims_t groups;
    quern_data_type_t type = quern_data_type_undef;
    if (get(attr, argument, &mask, &groupCount, groups, &type) != quern_success)
      continue;
    text += (text.empty() ? "" : "+") + nameOfArgument(argument) + ":" + std::to_string(mask) + ":" + dnnl_dt2str(type);
    if (groupCount == 2)
      text += ":" + std::to_string(groups[0]) + "x" + std::to_string(groups[1]);
    if (quern_primitive_attr_is_on_host(attr, argument | flag))
      text += ":host_scalar";
  }
  return text;
}

std::string sumOf(const_quern_post_ops_t ops, int index) {
  float scale = 1;
  int32_t zeroPoint = 0;
  quern_data_type_t type = quern_data_type_undef;
  quern_post_ops_get_params_sum(ops, index, &scale, &zeroPoint, &type);
  std::string text = "sum";
  if (scale != 1 || zeroPoint || type)
    text += ":" + textOf(scale);
  if (zeroPoint || type)
    text += ":" + std::to_string(zeroPoint);
  return type ? text + ":" + dnnl_dt2str(type) : text;
}

std::string eltwiseOf(const_quern_post_ops_t ops, int index) {
  quern_alg_kind_t alg = quern_alg_kind_undef;
  float alpha = 0, beta = 0;
  quern_post_ops_get_params_eltwise(ops, index, &alg, &alpha, &beta);
  std::string text = dnnl_alg_kind2str(alg);
  if (alpha != 0 || beta != 0)
    text += ":" + textOf(alpha);
  return beta != 0 ? text + ":" + textOf(beta) : text;
}

std::string binaryOf(const_quern_post_ops_t ops, int index) {
  quern_alg_kind_t alg = quern_alg_kind_undef;
  const_quern_memory_desc_t src1 = nullptr;
  quern_post_ops_get_params_binary(ops, index, &alg, &src1);
  const TensorDesc layout = layoutOf(src1);
  int mask = 0, wide = 0;
  for (int d = 0; d < layout.ndims; ++d) {
    mask |= (layout.dims[d] != 1) << d;
    wide += layout.dims[d] != 1;
  }
  std::string text = std::string(dnnl_alg_kind2str(alg)) + ":" + dnnl_dt2str(static_cast<unsigned>(layout.dataType)) +
                     ":" + std::to_string(mask);
  if (layout.isAny())
    return text + ":any";
  return wide > 1 ? text + ":" + tagOf(layout) : text;
}

std::string postOpsOf(const_quern_post_ops_t ops) {
  std::string text;
  for (int i = 0; i < quern_post_ops_len(ops); ++i) {
    text += text.empty() ? "" : "+";
    int mask = 0;
    switch (quern_post_ops_get_kind(ops, i)) {
    case quern_sum:
      text += sumOf(ops, i);
      break;
    case quern_eltwise:
      text += eltwiseOf(ops, i);
      break;
    case quern_binary:
      text += binaryOf(ops, i);
      break;
    default:
      quern_post_ops_get_params_prelu(ops, i, &mask);
      text += "prelu:" + std::to_string(mask);
      break;
    }
  }
  return text;
}

std::string rnnQuantizationOf(const_quern_primitive_attr_t attr) {
  float scale = 1, shift = 0;
  quern_primitive_attr_get_rnn_data_qparams(attr, &scale, &shift);
  return scale == 1 && shift == 0 ? "" : textOf(scale) + ":" + textOf(shift) + ";";
}

/// Returns the tag of the mask ("undef" without a mask), the type of seeds, and whether there is an offset and whether
/// the numbers are host scalars.
std::string dropoutOf(const_quern_primitive_attr_t attr) {
  const_quern_memory_desc_t mask = nullptr;
  quern_data_type_t seeds = quern_data_type_undef;
  int usesOffset = 0, usesHostScalars = 0;
  quern_primitive_attr_get_dropout_v2(attr, &mask, &seeds, &usesOffset, &usesHostScalars);
  if (seeds == quern_data_type_undef)
    return "";
  const TensorDesc layout = layoutOf(mask);
  const std::string tag = layout.ndims == 0 ? "undef" : layout.isAny() ? "any" : tagOf(layout);
  return tag + ":" + dnnl_dt2str(static_cast<unsigned>(seeds)) + ":" + std::to_string(usesOffset) + ":" +
         std::to_string(usesHostScalars);
}

} // namespace

std::string quern::dropin::describeTensor(std::string_view name, const_quern_memory_desc_t desc, bool wasAny) {
  const TensorDesc layout = layoutOf(desc);
  const std::string start = std::string(name) + ":";
  if (layout.ndims == 0)
    return start + "undef::undef:::";
  const std::string head = start + dnnl_dt2str(static_cast<unsigned>(layout.dataType)) + ":" + flagsOf(layout, wasAny) +
                           ":" + dnnl_fmt_kind2str(static_cast<unsigned>(layout.formatKind)) + ":";
  return head + (layout.isAny() ? "any:" : tagOf(layout) + ":" + stridesOf(layout)) + extrasOf(layout.extras);
}

std::string quern::dropin::describeAttributes(const_quern_primitive_attr_t attr, int sources, bool showsAccumulation) {
  std::string text;
  const auto add = [&](const char *name, const std::string &value) {
    if (!value.empty())
      text += (text.empty() ? "" : " ") + std::string(name) + ":" + value;
  };
  quern_scratchpad_mode_t scratchpad = quern_scratchpad_mode_library;
  quern_primitive_attr_get_scratchpad_mode(attr, &scratchpad);
  add("attr-scratchpad", scratchpad ? dnnl_scratchpad_mode2str(scratchpad) : "");
  quern_fpmath_mode_t fpmath = quern_fpmath_mode_strict;
  int forIntegers = 0;
  quern_primitive_attr_get_fpmath_mode_v2(attr, &fpmath, &forIntegers);
  add("attr-fpmath",
      fpmath || forIntegers ? std::string(dnnl_fpmath_mode2str(fpmath)) + (forIntegers ? ":true" : "") : "");
  quern_accumulation_mode_t accumulation = quern_accumulation_mode_strict;
  quern_primitive_attr_get_accumulation_mode(attr, &accumulation);
  add("attr-acc-mode", accumulation && showsAccumulation ? dnnl_accumulation_mode2str(accumulation) : "");
  int deterministic = 0;
  quern_primitive_attr_get_deterministic(attr, &deterministic);
  add("attr-deterministic", deterministic ? "1" : "");
  const_quern_post_ops_t ops = nullptr;
  quern_primitive_attr_get_post_ops(attr, &ops);
  const auto quantization = [&](QuantGetter get, int flag) {
    return quantizationOf(attr, get, flag, sources, quern_post_ops_len(ops));
  };
  add("attr-scales", quantization(quern_primitive_attr_get_scales, QUERN_ARG_ATTR_SCALES));
  add("attr-zero-points", quantization(quern_primitive_attr_get_zero_points, QUERN_ARG_ATTR_ZERO_POINTS));
  add("attr-post-ops", postOpsOf(ops));
  add("attr-dropout", dropoutOf(attr));
  add("rnn_data_qparams", rnnQuantizationOf(attr));
  return text;
}
