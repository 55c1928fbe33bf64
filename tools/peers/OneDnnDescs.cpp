//===- OneDnnDescs.cpp - Problems as descriptors of oneDNN ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Blocked layouts are created by their tags; layouts without a tag are passed as a blob. Descriptors of RNNs are in
// OneDnnRnn.cpp.
//
//===----------------------------------------------------------------------===//
#include "OneDnnApi.h"

#include "Desc/Text/TextForm.h"
#include "Primitives/Arguments.h"

#include <cstring>

namespace quern {

/// The blob of oneDNN 3.13 is its descriptor, which equals Quern's except for the first eight bytes. Those are copied
/// from a descriptor of the same rank.
Result<void *> OneDnnPrimitive::describeByBlob(const TensorDesc &tensor) {
  TensorDesc blob;
  size_t size = 0;
  void *dense = nullptr, *desc = nullptr;
  const OneDnn::Functions &api = *library.api;
  if (!api.mdGetBlob || !api.mdCreateWithBlob)
    return unimplemented("oneDNN: no function of this release creates the layout ", textOf(tensor));
  int status = api.mdCreate(&dense, tensor.ndims, tensor.dims, static_cast<int>(DataType::F32), nullptr);
  if (status == 0)
    descs.push_back(dense);
  if (status != 0 || api.mdGetBlob(nullptr, &size, dense) != 0 || size != sizeof(blob))
    return unimplemented("oneDNN: its blobs have ", size, " bytes instead of ", sizeof(blob));
  api.mdGetBlob(reinterpret_cast<uint8_t *>(&blob), &size, dense);
  std::memcpy(reinterpret_cast<char *>(&blob) + offsetof(TensorDesc, dims),
              reinterpret_cast<const char *>(&tensor) + offsetof(TensorDesc, dims),
              sizeof(blob) - offsetof(TensorDesc, dims));
  if (api.mdCreateWithBlob(&desc, reinterpret_cast<const uint8_t *>(&blob)) != 0)
    return unimplemented("oneDNN: refused the blob of ", textOf(tensor));
  descs.push_back(desc);
  return desc;
}

/// Returns a descriptor that this object owns.
Result<void *> OneDnnPrimitive::describe(const TensorDesc &tensor) {
  void *desc = nullptr;
  TensorDesc atStart = tensor;
  atStart.offset0 = 0;
  std::string tag = atStart.tag();
  int type = static_cast<int>(tensor.dataType), status;
  // Every number is accepted as a type, and a type that the release does not know makes it crash later.
  if (tensor.dataType > DataType::Boolean && library.api->version()->minor < 4)
    return unimplemented("oneDNN: this release has no type ", nameOf(tensor.dataType));
  if (tensor.isPlain() && !tensor.hasPadding() && tensor.extras.flags == 0) {
    status = library.api->mdCreate(&desc, tensor.ndims, tensor.dims, type, tensor.strides);
  } else if (!tag.empty() && tensor.extras.flags == 0) {
    status = library.api->mdCreateByTag(&desc, tensor.ndims, tensor.dims, type, tag.c_str());
  } else {
    return describeByBlob(atStart);
  }
  // Releases return different statuses for unknown layouts and types.
  if (status != 0)
    return unimplemented("oneDNN: refused a tensor with status ", status);
  descs.push_back(desc);
  return desc;
}

Result<void> OneDnnPrimitive::appendPostOp(void *postOps, const PostOp &post) {
  if (post.kind == PostOp::Kind::Eltwise)
    return explained(library.api->appendEltwise(postOps, static_cast<int>(post.alg), post.alpha, post.beta),
                     "the eltwise post-op");
  if (post.kind == PostOp::Kind::Sum)
    return explained(library.api->appendSum(postOps, post.scale, post.zeroPoint, static_cast<int>(post.dataType)),
                     "the sum post-op");
  if (post.kind != PostOp::Kind::Binary || post.alg == Alg::BinarySelect)
    return unimplemented("oneDNN: no post-op ", nameOf(post.alg), " in every 3.x");
  QUERN_ASSIGN_OR_RETURN(void *desc, describe(post.src1));
  return explained(library.api->appendBinary(postOps, static_cast<int>(post.alg), desc), "the binary post-op");
}

/// Sets scales, zero points and RNN parameters.
Result<void> OneDnnPrimitive::describeQuantization() {
  const OneDnn::Functions &api = *library.api;
  const Attributes &attr = problem.desc.attr;
  auto set = [&](int32_t argument, const QuantParams &params, DataType simple, auto setMask, auto setGroups) {
    if (params.groups.empty() && params.dataType == simple)
      return setMask(attributes, argument, params.mask) == 0;
    return setGroups && setGroups(attributes, argument, params.mask, static_cast<int>(params.groups.size()),
                                  params.groups.data(), static_cast<int>(params.dataType)) == 0;
  };
  for (const auto &[argument, scales] : attr.scales)
    if (!set(argument, scales, DataType::F32, api.setScales, api.setGroupedScales))
      return unimplemented("oneDNN: no such scales of argument ", argument);
  for (const auto &[argument, zeroPoints] : attr.zeroPoints)
    if (!set(argument, zeroPoints, DataType::S32, api.setZeroPoints, api.setGroupedZeroPoints))
      return unimplemented("oneDNN: no such zero points of argument ", argument);
  const RnnQuantization &rnn = attr.rnn;
  if (rnn.dataScale != 1 || rnn.dataShift != 0)
    if (Result<void> set =
            explained(api.setRnnData(attributes, rnn.dataScale, rnn.dataShift), "quantization of RNN data");
        !set)
      return set;
  auto setWeights = [&](auto function, int32_t mask, const std::vector<float> &scales) -> Result<void> {
    if (scales.empty())
      return {};
    return explained(function(attributes, static_cast<int64_t>(scales.size()), mask, scales.data()),
                     "quantization of RNN weights");
  };
  QUERN_RETURN_IF_ERROR(setWeights(api.setRnnWeights, rnn.weightsMask, rnn.weightsScales));
  return setWeights(api.setRnnProjection, rnn.projectionMask, rnn.projectionScales);
}

Result<void> OneDnnPrimitive::describeDropout() {
  const Dropout &dropout = problem.desc.attr.dropout;
  if (!dropout.isSet())
    return {};
  if (!library.api->setDropout || dropout.isOnHost)
    return unimplemented("oneDNN: no such dropout in this release");
  void *none = nullptr;
  if (dropout.mask.isZero()) {
    if (library.api->mdCreate(&none, 0, nullptr, 0, nullptr) != 0)
      return unimplemented("oneDNN: no descriptor for an absent mask");
    descs.push_back(none);
  }
  QUERN_ASSIGN_OR_RETURN(void *mask, none ? Result<void *>(none) : describe(dropout.mask));
  return explained(library.api->setDropout(attributes, mask, static_cast<int>(dropout.seedType), dropout.usesOffset, 0),
                   "dropout");
}

/// Relaxations (fpmath, accumulation mode, determinism) are not passed on, so the peer computes with its default
/// accuracy.
Result<void> OneDnnPrimitive::describeAttributes() {
  const Attributes &attr = problem.desc.attr;
  QUERN_RETURN_IF_ERROR(explained(library.api->attrCreate(&attributes), "attributes"));
  QUERN_RETURN_IF_ERROR(describeQuantization());
  QUERN_RETURN_IF_ERROR(describeDropout());
  void *postOps = nullptr;
  QUERN_RETURN_IF_ERROR(explained(library.api->postOpsCreate(&postOps), "post-ops"));
  Result<void> done;
  for (const PostOp &post : attr.postOps)
    if (done = appendPostOp(postOps, post); !done)
      break;
  if (done)
    done = explained(library.api->setPostOps(attributes, postOps), "post-ops");
  library.api->postOpsDestroy(postOps);
  return done;
}

/// These overloads return the primitive descriptor, which the caller destroys.
Result<void *> OneDnnPrimitive::createDesc(const ReorderDesc &op) {
  Result<void *> src = describe(op.src), dst = describe(op.dst);
  if (!src || !dst)
    return src ? dst.takeError() : src.takeError();
  void *desc = nullptr;
  int status = library.api->reorder(&desc, *src, library.engine, *dst, library.engine, attributes);
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

/// Like createDesc(const ReorderDesc &).
Result<void *> OneDnnPrimitive::createDesc(const EltwiseDesc &op) {
  const int alg = static_cast<int>(op.alg);
  const bool forward = isForward(op.prop);
  // Backward's hint has the types of the data that it reads.
  Result<void *> data = describe(forward || !usesDst(op.alg) ? op.src : op.dst),
                 result = forward ? describe(op.dst) : data;
  if (!data || !result)
    return data ? result.takeError() : data.takeError();
  const int prop = static_cast<int>(forward ? op.prop : PropKind::ForwardTraining);
  void *desc = nullptr;
  int status = library.api->eltwiseForward(&desc, library.engine, prop, alg, *data, *result, op.alpha, op.beta,
                                           forward ? attributes : nullptr);
  if (status == 0 && !forward) {
    void *hint = desc;
    Result<void *> diffSrc = describe(op.diffSrc), diffDst = describe(op.diffDst);
    status = diffSrc && diffDst ? library.api->eltwiseBackward(&desc, library.engine, alg, *diffSrc, *diffDst, *data,
                                                               op.alpha, op.beta, hint, attributes)
                                : unimplementedOneDnn;
    library.api->pdDestroy(hint);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

/// Like createDesc(const ReorderDesc &).
Result<void *> OneDnnPrimitive::createDesc(const BinaryDesc &op) {
  Result<void *> src = describe(op.src), src1 = describe(op.src1), dst = describe(op.dst), src2 = nullptr;
  if (!op.src2.isZero())
    src2 = describe(op.src2);
  for (Result<void *> *described : {&src, &src1, &src2, &dst})
    if (!*described)
      return described->takeError();
  void *desc = nullptr;
  int alg = static_cast<int>(op.alg), status = unimplementedOneDnn;
  if (op.src2.isZero())
    status = library.api->binary(&desc, library.engine, alg, *src, *src1, *dst, attributes);
  else if (library.api->binaryV2)
    status = library.api->binaryV2(&desc, library.engine, alg, *src, *src1, *src2, *dst, attributes);
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

Result<std::vector<const void *>> OneDnnPrimitive::describeAll(const std::vector<TensorDesc> &tensors) {
  std::vector<const void *> all;
  for (const TensorDesc &tensor : tensors) {
    QUERN_ASSIGN_OR_RETURN(void *desc, describe(tensor));
    all.push_back(desc);
  }
  return all;
}

Result<void *> OneDnnPrimitive::createFromAll(const std::vector<TensorDesc> &srcs, const TensorDesc &dst,
                                              const CreateFromAll &create) {
  Result<void *> result = describe(dst);
  Result<std::vector<const void *>> all = describeAll(srcs);
  if (!all || !result)
    return all ? result.takeError() : all.takeError();
  void *desc = nullptr;
  if (int status = create(&desc, *result, static_cast<int>(all->size()), all->data()); status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

/// Like createDesc(const ReorderDesc &).
Result<void *> OneDnnPrimitive::createDesc(const SumDesc &op) {
  return createFromAll(op.srcs, op.dst, [&](void **desc, const void *dst, int count, const void *const *srcs) {
    return library.api->sum(desc, library.engine, dst, count, op.scales.data(), srcs, attributes);
  });
}

/// Like createDesc(const ReorderDesc &).
Result<void *> OneDnnPrimitive::createDesc(const ConcatDesc &op) {
  return createFromAll(op.srcs, op.dst, [&](void **desc, const void *dst, int count, const void *const *srcs) {
    return library.api->concat(desc, library.engine, dst, count, op.axis, srcs, attributes);
  });
}

/// Like createDesc(const ReorderDesc &).
Result<void *> OneDnnPrimitive::createDesc(const GemmDesc &) {
  return unimplemented("oneDNN: gemm is a function, not a primitive");
}
Result<void *> OneDnnPrimitive::createDesc(const MlirDesc &) {
  return unimplemented("oneDNN: it has no caller-defined functions");
}

Result<void *> OneDnnPrimitive::createDesc(const SoftmaxDesc &op) {
  // On finite data both accurate algorithms are equal, and oneDNN's public headers have only one of them.
  int alg = static_cast<int>(op.alg == Alg::SoftmaxAccurateInfAsZero ? Alg::SoftmaxAccurate : op.alg);
  bool forward = isForward(op.prop);
  Result<void *> first = describe(forward ? op.src : op.diffSrc), dst = describe(op.dst);
  if (!first || !dst)
    return first ? dst.takeError() : first.takeError();
  int prop = static_cast<int>(forward ? op.prop : PropKind::ForwardTraining);
  void *desc = nullptr;
  const void *forwardAttributes = forward ? attributes : nullptr;
  int status = library.api->softmaxForward(&desc, library.engine, prop, alg, *first, *dst, op.axis, forwardAttributes);
  if (status == 0 && !forward) {
    void *hint = desc;
    Result<void *> diffDst = describe(op.diffDst);
    status = diffDst ? library.api->softmaxBackward(&desc, library.engine, alg, *first, *diffDst, *dst, op.axis, hint,
                                                    attributes)
                     : unimplementedOneDnn;
    library.api->pdDestroy(hint);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

} // namespace quern
