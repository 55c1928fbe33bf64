//===- OpenClValues.cpp - Elements and attributes in OpenCL C -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Offsets and conversions have the problem's numbers as constants, so the runtime's compiler can use all of them.
//
//===----------------------------------------------------------------------===//
#include "OpenClValues.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace quern::bench {

namespace {

const char *typeOf(DataType type) {
  switch (type) {
  case DataType::F64:
    return "double";
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
  case DataType::F8E5M2:
  case DataType::F8E4M3:
  case DataType::S4:
  case DataType::U4:
  case DataType::F4E2M1:
    return "uchar";
  default:
    throw std::runtime_error("no plain kernel for " + std::string(nameOf(type)));
  }
}

std::string literal(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9ef", static_cast<double>(value));
  return text;
}

std::string eltwise(const PostOp &op, const std::string &x) {
  const std::string alpha = literal(op.alpha), beta = literal(op.beta);
  switch (op.alg) {
  case Alg::EltwiseRelu:
    return "relu(" + x + ", " + alpha + ")";
  case Alg::EltwiseLinear:
    return "(" + alpha + " * " + x + " + " + beta + ")";
  case Alg::EltwiseLogistic:
    return "logistic(" + x + ")";
  case Alg::EltwiseSwish:
    return "swish(" + x + ", " + alpha + ")";
  case Alg::EltwiseTanh:
    return "tanh(" + x + ")";
  case Alg::EltwiseGeluErf:
    return "gelu(" + x + ")";
  default:
    throw std::runtime_error("no plain kernel for " + std::string(nameOf(op.alg)));
  }
}

std::string binary(const PostOp &op, const std::string &x, const std::string &y) {
  switch (op.alg) {
  case Alg::BinaryAdd:
    return "(" + x + " + " + y + ")";
  case Alg::BinaryMul:
    return "(" + x + " * " + y + ")";
  case Alg::BinaryMax:
    return "fmax(" + x + ", " + y + ")";
  default:
    throw std::runtime_error("no plain kernel for " + std::string(nameOf(op.alg)));
  }
}

} // namespace

std::string openClOffset(const TensorDesc &tensor) {
  std::string text = std::to_string(tensor.offset0) + "L";
  int64_t inBlock[maxDims], stride = 1;
  std::fill_n(inBlock, maxDims, 1);
  auto index = [](int64_t dim) { return "i" + std::to_string(dim); };
  for (int i = tensor.innerBlockCount - 1; i >= 0; --i) {
    int64_t dim = tensor.innerIndices[i], block = tensor.innerBlocks[i];
    text += " + (" + index(dim) + " / " + std::to_string(inBlock[dim]) + "u % " + std::to_string(block) + "u) * " +
            std::to_string(stride) + "L";
    inBlock[dim] *= block;
    stride *= block;
  }
  for (int d = 0; d < tensor.ndims; ++d)
    if (tensor.dims[d] > 1) // a post-op's tensor may have size 1 along a dim
      text +=
          " + (" + index(d) + " / " + std::to_string(inBlock[d]) + "u) * " + std::to_string(tensor.strides[d]) + "L";
  return text;
}

OpenClValues::OpenClValues(const BenchProblem &problem) : problem(problem.verified) {
  for (const ArgumentInfo &argument : this->problem.arguments) {
    const TensorExtras &extras = argument.desc.extras;
    if (argument.desc.hasRuntimeDims() || (extras.flags & ExtraScaleAdjust && extras.scaleAdjust != 1))
      throw std::runtime_error("no plain kernel for open sizes or adjusted scales");
    isDouble |= argument.desc.dataType == DataType::F64;
  }
}

std::string OpenClValues::helpers() {
  return R"(
ushort to_bf16(float x) { uint u = as_uint(x); return x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16; }
float from_e5m2(uchar x) { ushort u = x << 8; return vload_half(0, (half *)&u); }
float from_e4m3(uchar x) {
  float magnitude = as_float((uint)(x & 0x7f) << 20) * 0x1p120f;
  return (x & 0x7f) == 0x7f ? NAN : x & 0x80 ? -magnitude : magnitude;
}
uchar to_e4m3(float x) {
  uint u = as_uint(fabs(x)), sign = as_uint(x) >> 24 & 0x80;
  uint small = as_uint(fabs(x) + 0x1p14f) - as_uint(0x1p14f);
  uint normal = (u + 0x7ffff + (u >> 20 & 1)) - (120 << 23) >> 20;
  return sign | (fabs(x) < 0x1p-6f ? small : fabs(x) >= 464 || x != x ? 0x7f : normal);
}
uchar to_e5m2(float x) {
  ushort u;
  vstore_half_rte(x, 0, (half *)&u);
  return x != x ? 0x7f : (u + 0x7f + (u >> 8 & 1)) >> 8;
}
constant float e2m1[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
float relu(float x, float alpha) { return x > 0 ? x : alpha * x; }
float logistic(float x) { return 1 / (1 + exp(-x)); }
float swish(float x, float alpha) { return x / (1 + exp(-alpha * x)); }
float gelu(float x) { return 0.5f * x * (1 + erf(x * 0.70710678f)); }
uint nibble(global const uchar *p, long at) { return p[at / 2] >> at % 2 * 4 & 15; }
)";
}

const ArgumentInfo &OpenClValues::at(int32_t argument) const {
  auto found = std::find_if(problem.arguments.begin(), problem.arguments.end(),
                            [&](const ArgumentInfo &info) { return info.index == argument; });
  if (found == problem.arguments.end())
    throw std::runtime_error("no plain kernel without " + arg::nameOf(argument));
  return *found;
}

std::string OpenClValues::nameOf(int32_t argument) const {
  return "a" + std::to_string(&at(argument) - problem.arguments.data());
}

std::string OpenClValues::parameters() const {
  std::string text;
  for (const ArgumentInfo &argument : problem.arguments)
    text += std::string(text.empty() ? "" : ", ") + "global " + (argument.isOutput ? "" : "const ") +
            typeOf(argument.desc.dataType) + " *restrict " + nameOf(argument.index);
  return text;
}

std::string OpenClValues::element(int32_t argument) const {
  const TensorDesc &desc = tensor(argument);
  const std::string offset = openClOffset(desc), name = nameOf(argument), place = name + "[" + offset + "]";
  const std::string bits = "nibble(" + name + ", " + offset + ")";
  switch (desc.dataType) {
  case DataType::BF16:
    return "as_float((uint)" + place + " << 16)";
  case DataType::F16:
    return "vload_half(0, &" + place + ")";
  case DataType::F8E5M2:
    return "from_e5m2(" + place + ")";
  case DataType::F8E4M3:
    return "from_e4m3(" + place + ")";
  case DataType::F4E2M1:
    return "e2m1[" + bits + "]";
  case DataType::U4:
    return "(float)" + bits;
  case DataType::S4:
    return "(float)((int)(" + bits + " ^ 8) - 8)";
  default:
    return std::string("(") + real() + ")" + place;
  }
}

/// Returns the scale or zero point of the element.
std::string OpenClValues::quantization(int32_t argument, int32_t vector, const QuantParams &params) const {
  const TensorDesc &desc = tensor(argument), &values = tensor(vector);
  std::string index = "0";
  for (int d = 0; d < desc.ndims; ++d)
    if (params.mask >> d & 1) {
      const int64_t group = arg::groupAlong(params, desc.ndims, d);
      index = "(" + index + ") * " + std::to_string(desc.dims[d] / group) + " + i" + std::to_string(d) + " / " +
              std::to_string(group);
    }
  if (values.dataType != DataType::F32 && values.dataType != DataType::S32 && values.dataType != DataType::U8)
    throw std::runtime_error("no plain kernel for such scales or zero points");
  return std::string("(") + real() + ")" + nameOf(vector) + "[" + index + "]";
}

std::string OpenClValues::scale(int32_t argument) const {
  auto found = problem.desc.attr.scales.find(argument);
  return found == problem.desc.attr.scales.end() ? "" : quantization(argument, arg::scalesOf(argument), found->second);
}

std::string OpenClValues::loaded(int32_t argument) const {
  const Attributes &attr = problem.desc.attr;
  std::string value = element(argument);
  if (auto found = attr.zeroPoints.find(argument); found != attr.zeroPoints.end())
    value = "(" + value + " - " + quantization(argument, arg::zeroPointsOf(argument), found->second) + ")";
  if (const std::string factor = scale(argument); !factor.empty())
    value += " * " + factor;
  return "(" + value + ")";
}

std::string OpenClValues::withPostOps(std::string value, int32_t argument) const {
  const auto &postOps = problem.desc.attr.postOps;
  for (size_t i = 0; i < postOps.size(); ++i) {
    const PostOp &op = postOps[i];
    if (op.kind == PostOp::Kind::Eltwise)
      value = eltwise(op, value);
    else if (op.kind == PostOp::Kind::Binary)
      value = binary(op, value, element(arg::ofPostOp(i, arg::src1)));
    else if (op.kind == PostOp::Kind::Sum)
      value = "(" + value + " + " + literal(op.scale) + " * " + element(argument) + ")";
    else
      throw std::runtime_error("no plain kernel for this post-op");
  }
  return value;
}

std::string OpenClValues::finished(int32_t argument, const std::string &result) const {
  const Attributes &attr = problem.desc.attr;
  std::string value = withPostOps(result, argument);
  if (const std::string divisor = scale(argument); !divisor.empty())
    value = "(" + value + ") / " + divisor;
  if (auto found = attr.zeroPoints.find(argument); found != attr.zeroPoints.end())
    value = value + " + " + quantization(argument, arg::zeroPointsOf(argument), found->second);
  return value;
}

std::string OpenClValues::stored(int32_t argument, const std::string &value) const {
  const TensorDesc &desc = tensor(argument);
  const std::string place = nameOf(argument) + "[" + openClOffset(desc) + "]";
  switch (desc.dataType) {
  case DataType::F32:
  case DataType::F64:
    return place + " = " + value + ";";
  case DataType::BF16:
    return place + " = to_bf16(" + value + ");";
  case DataType::F16:
    return "vstore_half_rte(" + value + ", 0, &" + place + ");";
  case DataType::F8E5M2:
    return place + " = to_e5m2(" + value + ");";
  case DataType::F8E4M3:
    return place + " = to_e4m3(" + value + ");";
  default:
    return place + " = convert_" + typeOf(desc.dataType) + "_sat_rte(" + value + ");";
  }
}

} // namespace quern::bench
