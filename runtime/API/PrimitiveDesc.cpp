//===- PrimitiveDesc.cpp - Primitive descriptors --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creates the primitive descriptors of quern_primitive.h and quern_text.h. Query.cpp implements their queries.
//
//===----------------------------------------------------------------------===//
#include "API/Create.h"
#include "API/Guard.h"

using namespace quern;
using namespace quern::api;

Attributes api::attributesOf(const_quern_primitive_attr_t attr) {
  if (attr)
    return *unwrap(attr);
  Attributes defaults;
  quern_fpmath_mode_t mode = quern_fpmath_mode_strict;
  quern_get_default_fpmath_mode(&mode);
  defaults.fpmathMode = fromC<FpmathMode>(mode);
  return defaults;
}

static PrimitiveDesc withoutTiers(PrimitiveDesc desc) {
  desc.attr.tiers = Tiers::Default;
  return desc;
}

Result<void> api::create(quern_primitive_desc_t *handle, quern_engine_t engine, const PrimitiveDesc &desc,
                         const PrimitiveDesc *hint, ReorderSides sides) {
  // The bytes of a problem lack attributes that no primitive implements, so they are refused before a look-up by bytes.
  if (desc.attr.uncomputed)
    QUERN_RETURN_IF_ERROR(desc.attr.validate());
  const bool hasTiers = desc.attr.tiers != Tiers::Default; // not part of the problem, which other descriptors share
  QUERN_ASSIGN_OR_RETURN(auto problem,
                         Problem::create(unwrap(engine), hasTiers ? withoutTiers(desc) : desc, hint, sides));
  auto object = std::make_unique<PrimitiveDescObject>(PrimitiveDescObject{std::move(problem)});
  if (hasTiers) {
    Attributes given = object->problem->verified().desc.attr;
    object->tiers = given.tiers = desc.attr.tiers;
    object->attributes = std::make_shared<const Attributes>(std::move(given));
  }
  wrap(object.release(), handle);
  return {};
}

namespace {

Result<Alg> softmaxAlgorithm(quern_alg_kind_t kind) {
  const Alg alg = fromC<Alg>(kind);
  if (alg < Alg::SoftmaxAccurate || alg > Alg::SoftmaxAccurateInfAsZero)
    return invalidArguments("algorithm 0x", std::hex, static_cast<int>(kind), " is not a softmax");
  return alg;
}

/// Returns copies of the descriptors of the `count` sources of a sum or concat.
Result<std::vector<TensorDesc>> sourcesOf(int count, const const_quern_memory_desc_t *descs) {
  if (count < 1)
    return invalidArguments("n is ", count, "; it must be at least 1");
  if (static_cast<size_t>(count) > maxSources)
    return unimplemented("n is ", count, "; at most ", maxSources, " sources are possible");
  std::vector<TensorDesc> sources;
  sources.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (!descs[i])
      return invalidArguments("src_descs[", i, "] is null");
    sources.push_back(*unwrap(descs[i]));
  }
  return sources;
}

} // namespace

Result<void> quern::api::checkForward(const char *primitive, quern_prop_kind_t prop) {
  if (prop == quern_forward_training || prop == quern_forward_inference)
    return {};
  return invalidArguments("prop_kind is ", static_cast<int>(prop), "; forward ", primitive,
                          " supports forward_training (64) and forward_inference (96)");
}

extern "C" {

quern_status_t quern_softmax_forward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                           quern_prop_kind_t prop, quern_alg_kind_t alg,
                                                           const_quern_memory_desc_t src, const_quern_memory_desc_t dst,
                                                           int axis, const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "src_desc", src, "dst_desc", dst);
    QUERN_RETURN_IF_ERROR(checkForward("softmax", prop));
    QUERN_ASSIGN_OR_RETURN(Alg algorithm, softmaxAlgorithm(alg));
    PrimitiveDesc desc; // filled in place: descriptors are large
    auto &softmax = desc.op.emplace<SoftmaxDesc>();
    softmax.prop = fromC<PropKind>(prop);
    softmax.alg = algorithm;
    softmax.src = *unwrap(src);
    softmax.dst = *unwrap(dst);
    softmax.axis = axis;
    desc.attr = attributesOf(attr);
    return create(handle, engine, desc, nullptr);
  });
}

quern_status_t quern_softmax_backward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                            quern_alg_kind_t alg, const_quern_memory_desc_t diffSrc,
                                                            const_quern_memory_desc_t diffDst,
                                                            const_quern_memory_desc_t dst, int axis,
                                                            const_quern_primitive_desc_t hint,
                                                            const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "diff_src_desc", diffSrc, "diff_dst_desc", diffDst, "dst_desc", dst);
    QUERN_ASSIGN_OR_RETURN(Alg algorithm, softmaxAlgorithm(alg));
    SoftmaxDesc softmax;
    softmax.prop = PropKind::BackwardData;
    softmax.alg = algorithm;
    softmax.diffSrc = *unwrap(diffSrc);
    softmax.diffDst = *unwrap(diffDst);
    softmax.dst = *unwrap(dst);
    softmax.axis = axis;
    const PrimitiveDesc *forward = hint ? &unwrap(hint)->problem->verified().desc : nullptr;
    return create(handle, engine, {std::move(softmax), attributesOf(attr)}, forward);
  });
}

quern_status_t quern_eltwise_forward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                           quern_prop_kind_t prop, quern_alg_kind_t alg,
                                                           const_quern_memory_desc_t src, const_quern_memory_desc_t dst,
                                                           float alpha, float beta,
                                                           const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "src_desc", src, "dst_desc", dst);
    QUERN_RETURN_IF_ERROR(checkForward("eltwise", prop));
    PrimitiveDesc desc; // filled in place: descriptors are large
    auto &eltwise = desc.op.emplace<EltwiseDesc>();
    eltwise.prop = fromC<PropKind>(prop);
    eltwise.alg = fromC<Alg>(alg);
    eltwise.alpha = alpha;
    eltwise.beta = beta;
    eltwise.src = *unwrap(src);
    eltwise.dst = *unwrap(dst);
    desc.attr = attributesOf(attr);
    return create(handle, engine, desc, nullptr);
  });
}

quern_status_t quern_eltwise_backward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                            quern_alg_kind_t alg, const_quern_memory_desc_t diffSrc,
                                                            const_quern_memory_desc_t diffDst,
                                                            const_quern_memory_desc_t data, float alpha, float beta,
                                                            const_quern_primitive_desc_t hint,
                                                            const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "diff_src_desc", diffSrc, "diff_dst_desc", diffDst, "data_desc", data);
    PrimitiveDesc desc;
    auto &eltwise = desc.op.emplace<EltwiseDesc>();
    eltwise.prop = PropKind::BackwardData;
    eltwise.alg = fromC<Alg>(alg);
    eltwise.alpha = alpha;
    eltwise.beta = beta;
    eltwise.diffSrc = *unwrap(diffSrc);
    eltwise.diffDst = *unwrap(diffDst);
    (usesDst(eltwise.alg) ? eltwise.dst : eltwise.src) = *unwrap(data);
    desc.attr = attributesOf(attr);
    return create(handle, engine, desc, hint ? &unwrap(hint)->problem->verified().desc : nullptr);
  });
}

quern_status_t quern_reorder_primitive_desc_create(quern_primitive_desc_t *handle, const_quern_memory_desc_t src,
                                                   quern_engine_t srcEngine, const_quern_memory_desc_t dst,
                                                   quern_engine_t dstEngine,
                                                   const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("src_desc", src, "src_engine", srcEngine, "dst_desc", dst, "dst_engine", dstEngine);
    ReorderDesc reorder;
    reorder.src = *unwrap(src);
    reorder.dst = *unwrap(dst);
    reorder.srcEngine = unwrap(srcEngine)->kind;
    reorder.dstEngine = unwrap(dstEngine)->kind;
    quern_engine_t engine =
        reorder.srcEngine == EngineKind::Cpu && reorder.dstEngine == EngineKind::Gpu ? dstEngine : srcEngine;
    return create(handle, engine, {std::move(reorder), attributesOf(attr)}, nullptr,
                  {unwrap(srcEngine), unwrap(dstEngine)});
  });
}

quern_status_t quern_binary_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                  quern_alg_kind_t alg, const_quern_memory_desc_t src0,
                                                  const_quern_memory_desc_t src1, const_quern_memory_desc_t dst,
                                                  const_quern_primitive_attr_t attr) noexcept {
  return quern_binary_primitive_desc_create_v2(handle, engine, alg, src0, src1, nullptr, dst, attr);
}

quern_status_t quern_binary_primitive_desc_create_v2(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                     quern_alg_kind_t alg, const_quern_memory_desc_t src0,
                                                     const_quern_memory_desc_t src1, const_quern_memory_desc_t src2,
                                                     const_quern_memory_desc_t dst,
                                                     const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "src0_desc", src0, "src1_desc", src1, "dst_desc", dst);
    PrimitiveDesc desc; // filled in place: descriptors are large
    auto &binary = desc.op.emplace<BinaryDesc>();
    binary.alg = fromC<Alg>(alg);
    binary.src = *unwrap(src0);
    binary.src1 = *unwrap(src1);
    if (src2)
      binary.src2 = *unwrap(src2);
    binary.dst = *unwrap(dst);
    desc.attr = attributesOf(attr);
    return create(handle, engine, desc, nullptr);
  });
}

quern_status_t quern_sum_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                               const_quern_memory_desc_t dst, int n, const float *scales,
                                               const const_quern_memory_desc_t *srcs,
                                               const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "scales", scales, "src_descs", srcs);
    QUERN_ASSIGN_OR_RETURN(std::vector<TensorDesc> sources, sourcesOf(n, srcs));
    SumDesc sum;
    sum.scales.assign(scales, scales + n);
    sum.srcs = std::move(sources);
    if (dst)
      sum.dst = *unwrap(dst);
    return create(handle, engine, {std::move(sum), attributesOf(attr)}, nullptr);
  });
}

quern_status_t quern_concat_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                  const_quern_memory_desc_t dst, int n, int axis,
                                                  const const_quern_memory_desc_t *srcs,
                                                  const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "src_descs", srcs);
    QUERN_ASSIGN_OR_RETURN(std::vector<TensorDesc> sources, sourcesOf(n, srcs));
    ConcatDesc concat;
    concat.axis = axis;
    concat.srcs = std::move(sources);
    if (dst)
      concat.dst = *unwrap(dst);
    return create(handle, engine, {std::move(concat), attributesOf(attr)}, nullptr);
  });
}

quern_status_t quern_primitive_desc_create_from_text(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                     const char *line) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "line", line);
    Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
    return desc ? create(handle, engine, *desc, nullptr) : Result<void>(desc.takeError());
  });
}

quern_status_t quern_primitive_desc_get_text(const_quern_primitive_desc_t handle, const char **text) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle, "text", text);
    *text = unwrap(handle)->problem->text().c_str();
    return {};
  });
}

quern_status_t quern_primitive_desc_next_impl(quern_primitive_desc_t handle) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    return Error{Status::LastImplReached,
                 concat("there is no implementation after ", unwrap(handle)->problem->verified().implementation)};
  });
}

quern_status_t quern_primitive_desc_clone(quern_primitive_desc_t *handle,
                                          const_quern_primitive_desc_t existing) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("existing_primitive_desc", existing);
    wrap(new PrimitiveDescObject(*unwrap(existing)), handle);
    return {};
  });
}

quern_status_t quern_primitive_desc_get_attr(const_quern_primitive_desc_t handle,
                                             const_quern_primitive_attr_t *attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle, "attr", attr);
    const PrimitiveDescObject &desc = *unwrap(handle);
    wrap(desc.attributes ? desc.attributes.get() : &desc.problem->verified().desc.attr, attr);
    return {};
  });
}

quern_status_t quern_primitive_desc_destroy(quern_primitive_desc_t handle) noexcept { return destroy(unwrap(handle)); }

} // extern "C"
