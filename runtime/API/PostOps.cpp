//===- PostOps.cpp - Post-operations --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the post-ops of quern_attr.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"

#include <cmath>

using namespace quern;
using namespace quern::api;

namespace {

bool isEltwise(Alg alg) {
  return (alg >= Alg::EltwiseRelu && alg <= Alg::EltwiseHardswish) ||
         (alg >= Alg::EltwiseReluDst && alg <= Alg::EltwiseClipV2Dst);
}
bool isBinary(Alg alg) { return alg >= Alg::BinaryAdd && alg <= Alg::BinarySelect; }

Result<void> append(quern_post_ops_t list, PostOp op) {
  if (unwrap(list)->size() >= maxPostOps)
    return Error{Status::OutOfMemory, concat("there are ", maxPostOps, " post-ops already, which is the limit")};
  unwrap(list)->push_back(std::move(op));
  return {};
}

/// Returns the post-op at `index`. Fails if there is none or it is not of `kind`; `name` is that kind in the message.
Result<const PostOp *> find(const_quern_post_ops_t list, int index, PostOp::Kind kind, const char *name) {
  if (!list)
    return invalidArguments("post_ops is null");
  if (index < 0 || static_cast<size_t>(index) >= unwrap(list)->size())
    return invalidArguments("post-op ", index, " does not exist: there are ", unwrap(list)->size());
  const PostOp &op = (*unwrap(list))[static_cast<size_t>(index)];
  if (op.kind != kind)
    return invalidArguments("post-op ", index, " is not of kind ", name);
  return &op;
}

Result<void> appendBinary(quern_post_ops_t list, quern_alg_kind_t alg, const_quern_memory_desc_t src1,
                          const_quern_memory_desc_t src2) {
  PostOp op;
  op.kind = PostOp::Kind::Binary;
  op.alg = fromC<Alg>(alg);
  if (!isBinary(op.alg))
    return invalidArguments("algorithm 0x", std::hex, static_cast<int>(alg), " is not binary");
  if (op.alg == Alg::BinarySelect && !src2)
    return invalidArguments("src2_desc is null, but select needs it");
  op.src1 = *unwrap(src1);
  if (op.alg == Alg::BinarySelect)
    op.src2 = *unwrap(src2);
  return append(list, std::move(op));
}

} // namespace

extern "C" {

quern_status_t quern_post_ops_create(quern_post_ops_t *postOps) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps);
    *postOps = nullptr;
    wrap(new PostOps(), postOps);
    return {};
  });
}

quern_status_t quern_post_ops_clone(quern_post_ops_t *postOps, const_quern_post_ops_t existing) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps);
    *postOps = nullptr;
    QUERN_REQUIRE("existing_post_ops", existing);
    wrap(new PostOps(*unwrap(existing)), postOps);
    return {};
  });
}

quern_status_t quern_post_ops_destroy(quern_post_ops_t postOps) noexcept { return destroy(unwrap(postOps)); }

int quern_post_ops_len(const_quern_post_ops_t postOps) noexcept {
  return postOps ? static_cast<int>(unwrap(postOps)->size()) : -1;
}

quern_primitive_kind_t quern_post_ops_get_kind(const_quern_post_ops_t postOps, int index) noexcept {
  if (!postOps || index < 0 || static_cast<size_t>(index) >= unwrap(postOps)->size())
    return quern_undefined_primitive;
  switch ((*unwrap(postOps))[static_cast<size_t>(index)].kind) {
  case PostOp::Kind::Eltwise:
    return quern_eltwise;
  case PostOp::Kind::Binary:
    return quern_binary;
  case PostOp::Kind::Sum:
    return quern_sum;
  case PostOp::Kind::Prelu:
    return quern_prelu;
  case PostOp::Kind::Depthwise:
    return quern_convolution;
  }
  return quern_undefined_primitive;
}

quern_status_t quern_post_ops_append_sum(quern_post_ops_t postOps, float scale, int32_t zeroPoint,
                                         quern_data_type_t type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps);
    QUERN_ASSIGN_OR_RETURN(DataType element, checkedEnum<DataType>("data type", type));
    PostOp op;
    op.kind = PostOp::Kind::Sum;
    op.scale = scale;
    op.zeroPoint = zeroPoint;
    op.dataType = element;
    return append(postOps, std::move(op));
  });
}

quern_status_t quern_post_ops_get_params_sum(const_quern_post_ops_t postOps, int index, float *scale,
                                             int32_t *zeroPoint, quern_data_type_t *type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(const PostOp *op, find(postOps, index, PostOp::Kind::Sum, "sum"));
    if (scale)
      *scale = op->scale;
    if (zeroPoint)
      *zeroPoint = op->zeroPoint;
    if (type)
      *type = toC<quern_data_type_t>(op->dataType);
    return {};
  });
}

quern_status_t quern_post_ops_append_eltwise(quern_post_ops_t postOps, quern_alg_kind_t alg, float alpha,
                                             float beta) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps);
    PostOp op;
    op.alg = fromC<Alg>(alg);
    if (!isEltwise(op.alg))
      return invalidArguments("algorithm 0x", std::hex, static_cast<int>(alg), " is not elementwise");
    if ((op.alg == Alg::EltwiseClip || op.alg == Alg::EltwiseClipV2) && alpha > beta)
      return invalidArguments("clip has bounds ", alpha, " and ", beta, "; the first must not exceed the second");
    op.alpha = alpha;
    op.beta = beta;
    return append(postOps, std::move(op));
  });
}

quern_status_t quern_post_ops_get_params_eltwise(const_quern_post_ops_t postOps, int index, quern_alg_kind_t *alg,
                                                 float *alpha, float *beta) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(const PostOp *op, find(postOps, index, PostOp::Kind::Eltwise, "eltwise"));
    if (alg)
      *alg = toC<quern_alg_kind_t>(op->alg);
    if (alpha)
      *alpha = op->alpha;
    if (beta)
      *beta = op->beta;
    return {};
  });
}

quern_status_t quern_post_ops_append_binary(quern_post_ops_t postOps, quern_alg_kind_t alg,
                                            const_quern_memory_desc_t src1) noexcept {
  return quern_post_ops_append_binary_v2(postOps, alg, src1, nullptr);
}

quern_status_t quern_post_ops_append_binary_v2(quern_post_ops_t postOps, quern_alg_kind_t alg,
                                               const_quern_memory_desc_t src1,
                                               const_quern_memory_desc_t src2) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps, "src1_desc", src1);
    return appendBinary(postOps, alg, src1, src2);
  });
}

quern_status_t quern_post_ops_get_params_binary(const_quern_post_ops_t postOps, int index, quern_alg_kind_t *alg,
                                                const_quern_memory_desc_t *src1) noexcept {
  return quern_post_ops_get_params_binary_v2(postOps, index, alg, src1, nullptr);
}

quern_status_t quern_post_ops_get_params_binary_v2(const_quern_post_ops_t postOps, int index, quern_alg_kind_t *alg,
                                                   const_quern_memory_desc_t *src1,
                                                   const_quern_memory_desc_t *src2) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(const PostOp *op, find(postOps, index, PostOp::Kind::Binary, "binary"));
    if (alg)
      *alg = toC<quern_alg_kind_t>(op->alg);
    if (src1)
      wrap(&op->src1, src1);
    if (src2)
      wrap(op->alg == Alg::BinarySelect ? &op->src2 : nullptr, src2);
    return {};
  });
}

quern_status_t quern_post_ops_append_prelu(quern_post_ops_t postOps, int mask) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps);
    if (mask < 0 || mask >= 1 << maxDims)
      return invalidArguments("the mask of prelu is ", mask, "; it must be 0 to ", (1 << maxDims) - 1);
    PostOp op;
    op.kind = PostOp::Kind::Prelu;
    op.mask = mask;
    return append(postOps, std::move(op));
  });
}

quern_status_t quern_post_ops_get_params_prelu(const_quern_post_ops_t postOps, int index, int *mask) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(const PostOp *op, find(postOps, index, PostOp::Kind::Prelu, "prelu"));
    if (mask)
      *mask = op->mask;
    return {};
  });
}

quern_status_t quern_post_ops_append_dw(quern_post_ops_t postOps, quern_data_type_t weights, quern_data_type_t bias,
                                        quern_data_type_t dst, quern_dim_t kernel, quern_dim_t stride,
                                        quern_dim_t padding) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("post_ops", postOps);
    PostOp op;
    op.kind = PostOp::Kind::Depthwise;
    for (auto [kept, given] : {std::pair(&op.depthwise.weights, weights), std::pair(&op.depthwise.bias, bias),
                               std::pair(&op.depthwise.dst, dst)}) {
      QUERN_ASSIGN_OR_RETURN(DataType element, checkedEnum<DataType>("data type", given));
      *kept = element;
    }
    if (op.depthwise.weights == DataType::Undef || op.depthwise.dst == DataType::Undef)
      return invalidArguments("the data type of weights or destination is undefined");
    if (kernel < 1 || stride < 1 || padding < 0 || padding >= kernel)
      return invalidArguments("kernel, stride and padding are ", kernel, ", ", stride, " and ", padding,
                              "; the first two must be at least 1, the last below the first");
    op.depthwise.kernel = kernel, op.depthwise.stride = stride, op.depthwise.padding = padding;
    return append(postOps, std::move(op));
  });
}

quern_status_t quern_post_ops_get_params_dw(const_quern_post_ops_t postOps, int index, quern_data_type_t *weights,
                                            quern_data_type_t *bias, quern_data_type_t *dst, quern_dim_t *kernel,
                                            quern_dim_t *stride, quern_dim_t *padding) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(const PostOp *op, find(postOps, index, PostOp::Kind::Depthwise, "convolution"));
    const auto give = [](auto *result, auto value) {
      if (result)
        *result = static_cast<std::remove_pointer_t<decltype(result)>>(value);
    };
    const auto &kept = op->depthwise;
    give(weights, static_cast<int>(kept.weights)), give(bias, static_cast<int>(kept.bias)),
        give(dst, static_cast<int>(kept.dst));
    give(kernel, kept.kernel), give(stride, kept.stride), give(padding, kept.padding);
    return {};
  });
}

} // extern "C"
