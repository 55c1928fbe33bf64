//===- OneDnn.cpp - Genuine oneDNN, opened at run time --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See OneDnn.h. The library stays open until the process ends: its thread pools do not survive a dlclose. Descriptors
// with an offset cannot be created, so the pointer is moved instead; blocked layouts are named by their tags, and what
// has no tag is given as a blob.
//
//===----------------------------------------------------------------------===//
#include "OneDnn.h"

#include "Desc/Text/TextForm.h"
#include "Primitives/Arguments.h"
#include "quern/quern_query.h"

#include <cstring>
#include <dlfcn.h>
#include <filesystem>

namespace quern {
namespace {

struct ExecArg {
  int arg;
  void *memory;
};
struct Version {
  int major, minor, patch;
};

constexpr int cpuEngine = 1, defaultStreamFlags = 1, unimplementedStatus = 3;

Result<void> explained(int status, const char *what) {
  if (status == 0)
    return {};
  if (status == unimplementedStatus)
    return unimplemented("oneDNN: ", what, " is not supported");
  return runtimeError("oneDNN: ", what, " failed with status ", status);
}

int64_t offsetBytes(const TensorDesc &tensor) { return tensor.offset0 * bitsOf(tensor.dataType) / 8; }

} // namespace

struct OneDnn::Functions {
  const Version *(*version)();
  int (*engineCreate)(void **, int, size_t);
  int (*engineDestroy)(void *);
  int (*streamCreate)(void **, void *, unsigned);
  int (*streamDestroy)(void *);
  int (*streamWait)(void *);
  int (*mdCreate)(void **, int, const int64_t *, int, const int64_t *);
  int (*mdCreateByTag)(void **, int, const int64_t *, int, const char *);
  int (*mdCreateWithBlob)(void **, const uint8_t *);   ///< null in old releases
  int (*mdGetBlob)(uint8_t *, size_t *, const void *); ///< null in old releases
  size_t (*mdGetSize)(const void *);
  int (*mdDestroy)(void *);
  int (*attrCreate)(void **);
  int (*attrDestroy)(void *);
  int (*setScales)(void *, int, int);
  int (*setZeroPoints)(void *, int, int);
  int (*setGroupedScales)(void *, int, int, int, const int64_t *, int);     ///< null in old releases
  int (*setGroupedZeroPoints)(void *, int, int, int, const int64_t *, int); ///< null in old releases
  int (*setDropout)(void *, const void *, int, int, int);                   ///< null in releases before 3.13
  int (*setRnnData)(void *, float, float);
  int (*setRnnWeights)(void *, int64_t, int, const float *);
  int (*setRnnProjection)(void *, int64_t, int, const float *);
  int (*postOpsCreate)(void **);
  int (*postOpsDestroy)(void *);
  int (*setPostOps)(void *, const void *);
  int (*appendEltwise)(void *, int, float, float);
  int (*appendBinary)(void *, int, const void *);
  int (*appendSum)(void *, float, int32_t, int);
  int (*eltwiseForward)(void **, void *, int, int, const void *, const void *, float, float, const void *);
  int (*eltwiseBackward)(void **, void *, int, const void *, const void *, const void *, float, float, const void *,
                         const void *);
  int (*softmaxForward)(void **, void *, int, int, const void *, const void *, int, const void *);
  int (*softmaxBackward)(void **, void *, int, const void *, const void *, const void *, int, const void *,
                         const void *);
  int (*binary)(void **, void *, int, const void *, const void *, const void *, const void *);
  /// From 3.6 on.
  int (*binaryV2)(void **, void *, int, const void *, const void *, const void *, const void *, const void *) = nullptr;
  int (*reorder)(void **, const void *, void *, const void *, void *, const void *);
  int (*sum)(void **, void *, const void *, int, const float *, const void *const *, const void *);
  int (*concat)(void **, void *, const void *, int, int, const void *const *, const void *);
  int (*pdQuery)(const void *, int, int, void *);
  int (*pdDestroy)(void *);
  int (*primitiveCreate)(void **, const void *);
  int (*primitiveDestroy)(void *);
  int (*memoryCreate)(void **, const void *, void *, void *);
  int (*memoryDestroy)(void *);
  int (*execute)(const void *, void *, int, const ExecArg *);

  /// The first symbol that is missing, or null.
  const char *load(void *library) {
    const char *missing = nullptr;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    auto get = [&](auto &function, const char *name) {
      if (!find(function, name) && !missing)
        missing = name;
    };
    find(mdCreateWithBlob, "dnnl_memory_desc_create_with_blob");
    find(mdGetBlob, "dnnl_memory_desc_get_blob");
    find(binaryV2, "dnnl_binary_primitive_desc_create_v2");
    find(setGroupedScales, "dnnl_primitive_attr_set_scales");
    find(setGroupedZeroPoints, "dnnl_primitive_attr_set_zero_points");
    find(setDropout, "dnnl_primitive_attr_set_dropout_v2");
    get(version, "dnnl_version");
    get(engineCreate, "dnnl_engine_create");
    get(engineDestroy, "dnnl_engine_destroy");
    get(streamCreate, "dnnl_stream_create");
    get(streamDestroy, "dnnl_stream_destroy");
    get(streamWait, "dnnl_stream_wait");
    get(mdCreate, "dnnl_memory_desc_create_with_strides");
    get(mdCreateByTag, "dnnl_memory_desc_create_with_string_tag");
    get(mdGetSize, "dnnl_memory_desc_get_size");
    get(mdDestroy, "dnnl_memory_desc_destroy");
    get(attrCreate, "dnnl_primitive_attr_create");
    get(attrDestroy, "dnnl_primitive_attr_destroy");
    get(setScales, "dnnl_primitive_attr_set_scales_mask");
    get(setZeroPoints, "dnnl_primitive_attr_set_zero_points_mask");
    get(setRnnData, "dnnl_primitive_attr_set_rnn_data_qparams");
    get(setRnnWeights, "dnnl_primitive_attr_set_rnn_weights_qparams");
    get(setRnnProjection, "dnnl_primitive_attr_set_rnn_weights_projection_qparams");
    get(postOpsCreate, "dnnl_post_ops_create");
    get(postOpsDestroy, "dnnl_post_ops_destroy");
    get(setPostOps, "dnnl_primitive_attr_set_post_ops");
    get(appendEltwise, "dnnl_post_ops_append_eltwise");
    get(appendBinary, "dnnl_post_ops_append_binary");
    get(appendSum, "dnnl_post_ops_append_sum");
    get(binary, "dnnl_binary_primitive_desc_create");
    get(reorder, "dnnl_reorder_primitive_desc_create");
    get(sum, "dnnl_sum_primitive_desc_create");
    get(concat, "dnnl_concat_primitive_desc_create");
    get(eltwiseForward, "dnnl_eltwise_forward_primitive_desc_create");
    get(eltwiseBackward, "dnnl_eltwise_backward_primitive_desc_create");
    get(softmaxForward, "dnnl_softmax_forward_primitive_desc_create");
    get(softmaxBackward, "dnnl_softmax_backward_primitive_desc_create");
    get(pdQuery, "dnnl_primitive_desc_query");
    get(pdDestroy, "dnnl_primitive_desc_destroy");
    get(primitiveCreate, "dnnl_primitive_create");
    get(primitiveDestroy, "dnnl_primitive_destroy");
    get(memoryCreate, "dnnl_memory_create");
    get(memoryDestroy, "dnnl_memory_destroy");
    get(execute, "dnnl_primitive_execute");
    return missing;
  }
};

Result<std::unique_ptr<OneDnn>> OneDnn::open(const std::string &root) {
  std::string path = std::filesystem::is_directory(root) ? root + "/lib/libdnnl.so.3" : root;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return runtimeError("cannot open oneDNN: ", dlerror());
  std::unique_ptr<OneDnn> oneDnn(new OneDnn);
  oneDnn->handle = library;
  oneDnn->api = std::make_unique<Functions>();
  if (const char *missing = oneDnn->api->load(library))
    return runtimeError(path, " has no ", missing);
  if (Result<void> made = explained(oneDnn->api->engineCreate(&oneDnn->engine, cpuEngine, 0), "engine creation"); !made)
    return made.takeError();
  int status = oneDnn->api->streamCreate(&oneDnn->stream, oneDnn->engine, defaultStreamFlags);
  if (Result<void> made = explained(status, "stream creation"); !made)
    return made.takeError();
  return oneDnn;
}

OneDnn::~OneDnn() {
  if (stream)
    api->streamDestroy(stream);
  if (engine)
    api->engineDestroy(engine);
}

std::string OneDnn::version() const {
  const Version *version = api->version();
  return concat("oneDNN ", version->major, '.', version->minor, '.', version->patch);
}

void *OneDnn::symbol(const char *name) const { return dlsym(handle, name); }

Result<std::unique_ptr<OneDnnPrimitive>> OneDnn::create(const VerifiedProblem &problem) const {
  std::unique_ptr<OneDnnPrimitive> primitive(new OneDnnPrimitive(*this, problem));
  if (Result<void> created = primitive->create(); !created)
    return created.takeError();
  return primitive;
}

OneDnnPrimitive::~OneDnnPrimitive() {
  releaseMemories();
  for (void *each : {primitive, forward})
    if (each)
      library.api->primitiveDestroy(each);
  if (attributes)
    library.api->attrDestroy(attributes);
  for (void *desc : descs)
    library.api->mdDestroy(desc);
}

/// The blob of 3.13 is its descriptor, which is ours but for the first eight bytes: those are taken from a
/// descriptor of the same rank.
Result<void *> OneDnnPrimitive::describeByBlob(const TensorDesc &tensor) {
  TensorDesc blob;
  size_t size = 0;
  void *dense = nullptr, *desc = nullptr;
  const OneDnn::Functions &api = *library.api;
  if (!api.mdGetBlob || !api.mdCreateWithBlob)
    return unimplemented("oneDNN: no function of this release makes the layout ", textOf(tensor));
  int status = api.mdCreate(&dense, tensor.ndims, tensor.dims, static_cast<int>(DataType::F32), nullptr);
  if (status == 0)
    descs.push_back(dense);
  if (status != 0 || api.mdGetBlob(nullptr, &size, dense) != 0 || size != sizeof(blob))
    return unimplemented("oneDNN: its blobs are of ", size, " bytes instead of ", sizeof(blob));
  api.mdGetBlob(reinterpret_cast<uint8_t *>(&blob), &size, dense);
  std::memcpy(reinterpret_cast<char *>(&blob) + offsetof(TensorDesc, dims),
              reinterpret_cast<const char *>(&tensor) + offsetof(TensorDesc, dims),
              sizeof(blob) - offsetof(TensorDesc, dims));
  if (api.mdCreateWithBlob(&desc, reinterpret_cast<const uint8_t *>(&blob)) != 0)
    return unimplemented("oneDNN: refused the blob of ", textOf(tensor));
  descs.push_back(desc);
  return desc;
}

/// A descriptor that this object owns.
Result<void *> OneDnnPrimitive::describe(const TensorDesc &tensor) {
  void *desc = nullptr;
  TensorDesc atStart = tensor;
  atStart.offset0 = 0;
  std::string tag = atStart.tag();
  int type = static_cast<int>(tensor.dataType), status;
  // Any number is taken for a type, and one that the release does not know makes it crash later.
  if (tensor.dataType > DataType::Boolean && library.api->version()->minor < 4)
    return unimplemented("oneDNN: this release has no type ", nameOf(tensor.dataType));
  if (tensor.isPlain() && !tensor.hasPadding() && tensor.extras.flags == 0) {
    status = library.api->mdCreate(&desc, tensor.ndims, tensor.dims, type, tensor.strides);
  } else if (!tag.empty() && tensor.extras.flags == 0) {
    status = library.api->mdCreateByTag(&desc, tensor.ndims, tensor.dims, type, tag.c_str());
  } else {
    return describeByBlob(atStart);
  }
  // Releases differ in what they call a layout or a type that they do not know.
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
  Result<void *> desc = describe(post.src1);
  if (!desc)
    return desc.takeError();
  return explained(library.api->appendBinary(postOps, static_cast<int>(post.alg), *desc), "the binary post-op");
}

/// Scales, zero points and RNN parameters.
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
  if (Result<void> set = setWeights(api.setRnnWeights, rnn.weightsMask, rnn.weightsScales); !set)
    return set;
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
      return unimplemented("oneDNN: no descriptor of no mask");
    descs.push_back(none);
  }
  Result<void *> mask = none ? Result<void *>(none) : describe(dropout.mask);
  if (!mask)
    return mask.takeError();
  return explained(
      library.api->setDropout(attributes, *mask, static_cast<int>(dropout.seedType), dropout.usesOffset, 0), "dropout");
}

/// Permissions (fpmath, accumulation mode, determinism) are not passed on: the peer is to compute as
/// exactly as it does by default.
Result<void> OneDnnPrimitive::describeAttributes() {
  const Attributes &attr = problem.desc.attr;
  if (Result<void> made = explained(library.api->attrCreate(&attributes), "attributes"); !made)
    return made;
  if (Result<void> described = describeQuantization(); !described)
    return described;
  if (Result<void> described = describeDropout(); !described)
    return described;
  void *postOps = nullptr;
  if (Result<void> made = explained(library.api->postOpsCreate(&postOps), "post-ops"); !made)
    return made;
  Result<void> done;
  for (const PostOp &post : attr.postOps)
    if (done = appendPostOp(postOps, post); !done)
      break;
  if (done)
    done = explained(library.api->setPostOps(attributes, postOps), "post-ops");
  library.api->postOpsDestroy(postOps);
  return done;
}

/// The primitive descriptor, to be destroyed by the caller.
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

/// Likewise.
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
                                : unimplementedStatus;
    library.api->pdDestroy(hint);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

/// Likewise.
Result<void *> OneDnnPrimitive::createDesc(const BinaryDesc &op) {
  Result<void *> src = describe(op.src), src1 = describe(op.src1), dst = describe(op.dst), src2 = nullptr;
  if (!op.src2.isZero())
    src2 = describe(op.src2);
  for (Result<void *> *described : {&src, &src1, &src2, &dst})
    if (!*described)
      return described->takeError();
  void *desc = nullptr;
  int alg = static_cast<int>(op.alg), status = unimplementedStatus;
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
    Result<void *> desc = describe(tensor);
    if (!desc)
      return desc.takeError();
    all.push_back(*desc);
  }
  return all;
}

/// Likewise.
Result<void *> OneDnnPrimitive::createDesc(const SumDesc &op) {
  Result<void *> dst = describe(op.dst);
  Result<std::vector<const void *>> srcs = describeAll(op.srcs);
  if (!srcs || !dst)
    return srcs ? dst.takeError() : srcs.takeError();
  void *desc = nullptr;
  int count = static_cast<int>(srcs->size());
  int status = library.api->sum(&desc, library.engine, *dst, count, op.scales.data(), srcs->data(), attributes);
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

/// Likewise.
Result<void *> OneDnnPrimitive::createDesc(const ConcatDesc &op) {
  Result<void *> dst = describe(op.dst);
  Result<std::vector<const void *>> srcs = describeAll(op.srcs);
  if (!srcs || !dst)
    return srcs ? dst.takeError() : srcs.takeError();
  void *desc = nullptr;
  int count = static_cast<int>(srcs->size());
  int status = library.api->concat(&desc, library.engine, *dst, count, op.axis, srcs->data(), attributes);
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

/// Likewise.
Result<void *> OneDnnPrimitive::createDesc(const GemmDesc &) {
  return unimplemented("oneDNN: gemm is a function, not a primitive");
}
Result<void *> OneDnnPrimitive::createDesc(const MlirDesc &) {
  return unimplemented("oneDNN: has no functions of its caller's");
}

Result<void *> OneDnnPrimitive::createDesc(const SoftmaxDesc &op) {
  // On finite data both kinds of accurate are the same, and oneDNN's public headers have only one of them.
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
                     : unimplementedStatus;
    library.api->pdDestroy(hint);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

Result<void> OneDnnPrimitive::create() {
  if (Result<void> described = describeAttributes(); !described)
    return described;
  Result<void *> desc = std::visit([&](const auto &op) { return createDesc(op); }, problem.desc.op);
  if (!desc)
    return desc.takeError();
  const char *name = nullptr;
  if (library.api->pdQuery(*desc, quern_query_impl_info_str, 0, static_cast<void *>(&name)) == 0 && name)
    kernel = name;
  int status = library.api->primitiveCreate(&primitive, *desc);
  library.api->pdDestroy(*desc);
  return explained(status, "primitive creation");
}

void OneDnnPrimitive::releaseMemories() {
  for (std::vector<Memory> *all : {&memories, &forwardMemories}) {
    for (const Memory &memory : *all)
      library.api->memoryDestroy(memory.handle);
    all->clear();
  }
}

Result<void *> OneDnnPrimitive::layoutOf(const ArgumentInfo &argument) {
  auto own = ownLayouts.find(argument.index);
  return own != ownLayouts.end() ? Result<void *>(own->second) : describe(argument.desc);
}

/// `data` is laid out as our descriptor says: oneDNN gets a copy where it has a layout of its own.
Result<void> OneDnnPrimitive::addMemory(const ArgumentInfo &argument, void *data) {
  const bool isOwn = ownLayouts.contains(argument.index), isMade = isMadeByForward(argument.index);
  Result<void *> desc = layoutOf(argument);
  if (!desc)
    return desc.takeError();
  void *memory = nullptr, *place = isOwn || isMade ? allocateMemory : data;
  if (Result<void> made = explained(library.api->memoryCreate(&memory, *desc, library.engine, place), "memory"); !made)
    return made;
  memories.push_back({argument.index, memory});
  if (Result<void> filled = isOwn ? fillOwn(argument, *desc, memory, data) : Result<void>(); !filled)
    return filled;
  return addForwardMemory(argument, data);
}

Result<void> OneDnnPrimitive::reorderInto(const TensorDesc &plain, void *values, const void *desc, void *memory) {
  const OneDnn::Functions &api = *library.api;
  Result<void *> plainDesc = describe(plain);
  if (!plainDesc)
    return plainDesc.takeError();
  void *reorderDesc = nullptr, *reorder = nullptr, *source = nullptr;
  if (api.reorder(&reorderDesc, *plainDesc, library.engine, desc, library.engine, attributes) != 0)
    return unimplemented("oneDNN: no reorder to a layout of its own");
  Result<void> done = explained(api.primitiveCreate(&reorder, reorderDesc), "a reorder to a layout of its own");
  if (done)
    done = explained(api.memoryCreate(&source, *plainDesc, library.engine, values), "memory");
  const ExecArg args[] = {{1, source}, {17, memory}};
  if (done)
    done = explained(api.execute(reorder, library.stream, 2, args), "a reorder to a layout of its own");
  if (done)
    done = explained(api.streamWait(library.stream), "waiting");
  if (source)
    api.memoryDestroy(source);
  if (reorder)
    api.primitiveDestroy(reorder);
  api.pdDestroy(reorderDesc);
  return done;
}

Result<void> OneDnnPrimitive::bind(const std::map<int32_t, void *> &buffers) {
  releaseMemories();
  for (const ArgumentInfo &argument : problem.arguments) {
    auto found = buffers.find(argument.index);
    if (found == buffers.end())
      return invalidArguments("no buffer for argument ", argument.index, " (", argument.name, ")");
    if (Result<void> added = addMemory(argument, static_cast<char *>(found->second) + offsetBytes(argument.desc));
        !added)
      return added;
  }
  return runForward();
}

Result<void> OneDnnPrimitive::allocate(const std::function<void(const ArgumentInfo &, char *)> &fill) {
  constexpr Placement lines{GuardedSide::End, 64};
  releaseMemories();
  buffers.clear();
  for (ArgumentInfo argument : problem.arguments) {
    Result<void *> desc = layoutOf(argument);
    if (!desc)
      return desc.takeError();
    GuardedBuffer &buffer = buffers.emplace_back(static_cast<int64_t>(library.api->mdGetSize(*desc)), lines);
    void *memory = nullptr;
    if (Result<void> made =
            explained(library.api->memoryCreate(&memory, *desc, library.engine, buffer.data()), "memory");
        !made)
      return made;
    memories.push_back({argument.index, memory});
    argument.desc.offset0 = 0;
    if (!ownLayouts.contains(argument.index)) {
      fill(argument, buffer.data());
      continue;
    }
    std::vector<char> ours(static_cast<size_t>(argument.desc.bytes()));
    fill(argument, ours.data());
    if (Result<void> filled = fillOwn(argument, *desc, memory, ours.data()); !filled)
      return filled;
    if (Result<void> added = addForwardMemory(argument, ours.data()); !added)
      return added;
  }
  return runForward();
}

Result<void> OneDnnPrimitive::execute(int64_t calls) {
  std::vector<ExecArg> args;
  for (const Memory &memory : memories)
    args.push_back({memory.argument, memory.handle});
  for (int64_t call = 0; call < calls; ++call)
    if (Result<void> done = explained(
            library.api->execute(primitive, library.stream, static_cast<int>(args.size()), args.data()), "execution");
        !done)
      return done;
  return explained(library.api->streamWait(library.stream), "waiting");
}

} // namespace quern
