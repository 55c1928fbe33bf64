//===- ProblemKind.cpp - Tables, families and bounds by primitive ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The table of kinds, and text that their titles share.
//
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

namespace quern::bench {

const ProblemKind *kindOf(const quern::PrimitiveDesc &desc) {
  switch (desc.kind()) {
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  case PrimitiveKind::NAME:                                                                                            \
    return WORD##Kind();
#include "Desc/Primitives.def"
  case PrimitiveKind::Mlir:
    return mlirKind();
  case PrimitiveKind::Undef:
    break;
  }
  return nullptr;
}

/// gemm is a function and not a primitive of oneDNN.
const ProblemKind *gemmKind() { return nullptr; }

bool isDense(const TensorDesc &tensor) {
  Result<TensorDesc> dense = TensorDesc::dense(tensor.shape(), tensor.dataType);
  return dense && tensor == *dense;
}

std::string join(std::span<const int64_t> values, const char *separator) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : separator) + std::to_string(value);
  return text;
}

std::string layoutName(const TensorDesc &tensor) {
  std::string tag = tensor.tag();
  return !tag.empty() ? tag : "s" + join(tensor.outerStrides());
}

std::string typesName(DataType from, DataType to) {
  std::string text(nameOf(from));
  return from == to ? text : text.append("→").append(nameOf(to));
}

void appendPostOps(const Attributes &attributes, std::string &list) {
  for (const PostOp &post : attributes.postOps) {
    std::string_view name = post.alg == Alg::Undef ? nameOf(post.kind) : nameOf(post.alg);
    name.remove_prefix(name.find('_') + 1); // the algorithm's family prefix; npos + 1 is 0
    list.append(list.empty() ? "" : ", ").append(name);
  }
}

} // namespace quern::bench
