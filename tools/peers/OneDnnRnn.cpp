//===- OneDnnRnn.cpp - RNN primitives of a genuine oneDNN -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Packed weights and workspaces have the library's own layout. Their descriptors are created with `any`, and weights
// are reordered into the layout that the library chooses when buffers are bound. Backward then reads the workspace and
// the states of the library's own forward.
//
//===----------------------------------------------------------------------===//
#include "OneDnn.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"
#include "quern/quern_query.h"

namespace quern {
namespace {

using Desc = const void *;
using Vanilla = int(void **, void *, int, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, float, float,
                    Desc);
using Lstm = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned,
                 Desc);
using Gru = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, Desc);
using Augru = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, Desc);
using VanillaBackward = int(void **, void *, int, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc,
                            Desc, Desc, Desc, Desc, unsigned, float, float, Desc, Desc);
using LstmBackward = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc,
                         Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, Desc, Desc);
using GruBackward = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc,
                        Desc, Desc, Desc, unsigned, Desc, Desc);
using AugruBackward = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc,
                          Desc, Desc, Desc, Desc, Desc, unsigned, Desc, Desc);

/// Returns the name of a function, such as "dnnl_lstm_forward_primitive_desc_create".
std::string functionOf(Alg cell, std::string_view pass) {
  constexpr auto wordOf = [](Alg cell) {
    switch (cell) {
    case Alg::VanillaRnn:
      return "vanilla_rnn";
    case Alg::VanillaLstm:
      return "lstm";
    case Alg::VanillaGru:
      return "gru";
    case Alg::LbrGru:
      return "lbr_gru";
    case Alg::VanillaAugru:
      return "augru";
    default:
      return "lbr_augru";
    }
  };
  return concat("dnnl_", wordOf(cell), '_', pass, "_primitive_desc_create");
}

bool isWeight(int32_t argument) {
  return argument == arg::weights || argument == arg::weights1 || argument == arg::weights3;
}
/// Returns true if the library can express this layout of weights and accepts it.
bool isSupportedLayout(const TensorDesc &weights) { return weights.isPlain() && weights.dataType != DataType::S8; }

} // namespace

Result<const void *> OneDnnPrimitive::describeRnn(int32_t argument, const TensorDesc &tensor) {
  if (tensor.isZero())
    return nullptr;
  TensorDesc asked = tensor;
  if (isWeight(argument) && !isSupportedLayout(tensor)) {
    asked = *TensorDesc::fromTag(tensor.shape(), tensor.dataType, "any");
    chosenLayouts[argument] = nullptr;
  }
  QUERN_ASSIGN_OR_RETURN(void *desc, asked.isAny() ? describeAny(asked) : describe(asked));
  return static_cast<const void *>(desc);
}

Result<void *> OneDnnPrimitive::describeAny(const TensorDesc &tensor) {
  void *desc = nullptr;
  constexpr int any = 1;
  auto *create = library.find<int(void **, int, const int64_t *, int, int)>("dnnl_memory_desc_create_with_tag");
  if (!create || create(&desc, tensor.ndims, tensor.dims, static_cast<int>(tensor.dataType), any) != 0)
    return unimplemented("oneDNN: refused layout any of a tensor");
  descs.push_back(desc);
  return desc;
}

Result<OneDnnPrimitive::RnnTensors> OneDnnPrimitive::describeRnnTensors(const RnnDesc &op) {
  RnnTensors at;
  const std::pair<int32_t, const TensorDesc *> tensors[] = {
      {arg::src, &op.srcLayer},
      {arg::src1, &op.srcIter},
      {arg::src2, &op.srcIterC},
      {arg::attention, &op.attention},
      {arg::weights, &op.weightsLayer},
      {arg::weights1, &op.weightsIter},
      {arg::weights2, &op.weightsPeephole},
      {arg::weights3, &op.weightsProjection},
      {arg::bias, &op.bias},
      {arg::dst, &op.dstLayer},
      {arg::dst1, &op.dstIter},
      {arg::dst2, &op.dstIterC},
      {arg::diffSrc, &op.diffSrcLayer},
      {arg::diffSrc1, &op.diffSrcIter},
      {arg::diffSrc2, &op.diffSrcIterC},
      {arg::diffAttention, &op.diffAttention},
      {arg::diffWeights, &op.diffWeightsLayer},
      {arg::diffWeights1, &op.diffWeightsIter},
      {arg::diffWeights2, &op.diffWeightsPeephole},
      {arg::diffWeights3, &op.diffWeightsProjection},
      {arg::diffBias, &op.diffBias},
      {arg::diffDst, &op.diffDstLayer},
      {arg::diffDst1, &op.diffDstIter},
      {arg::diffDst2, &op.diffDstIterC},
  };
  for (const auto &[argument, tensor] : tensors) {
    QUERN_ASSIGN_OR_RETURN(const void *desc, describeRnn(argument, *tensor));
    at[argument] = desc;
  }
  return at;
}

Result<void *> OneDnnPrimitive::createRnnForward(const RnnDesc &op, const RnnTensors &tensors, PropKind pass) const {
  int status = -1, prop = static_cast<int>(pass), direction = static_cast<int>(op.direction);
  void *desc = nullptr, *engine = library.engine;
  const std::string name = functionOf(op.cell, "forward");
  auto at = [&](int32_t argument) { return tensors.at(argument); };
  if (op.cell == Alg::VanillaRnn) {
    if (auto *create = library.find<Vanilla>(name.c_str()))
      status = create(&desc, engine, prop, static_cast<int>(op.activation), direction, at(arg::src), at(arg::src1),
                      at(arg::weights), at(arg::weights1), at(arg::bias), at(arg::dst), at(arg::dst1), op.flags,
                      op.alpha, op.beta, attributes);
  } else if (op.cell == Alg::VanillaLstm) {
    if (auto *create = library.find<Lstm>(name.c_str()))
      status = create(&desc, engine, prop, direction, at(arg::src), at(arg::src1), at(arg::src2), at(arg::weights),
                      at(arg::weights1), at(arg::weights2), at(arg::weights3), at(arg::bias), at(arg::dst),
                      at(arg::dst1), at(arg::dst2), op.flags, attributes);
  } else if (op.attention.isZero()) {
    if (auto *create = library.find<Gru>(name.c_str()))
      status = create(&desc, engine, prop, direction, at(arg::src), at(arg::src1), at(arg::weights), at(arg::weights1),
                      at(arg::bias), at(arg::dst), at(arg::dst1), op.flags, attributes);
  } else if (auto *create = library.find<Augru>(name.c_str())) {
    status = create(&desc, engine, prop, direction, at(arg::src), at(arg::src1), at(arg::attention), at(arg::weights),
                    at(arg::weights1), at(arg::bias), at(arg::dst), at(arg::dst1), op.flags, attributes);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

Result<void *> OneDnnPrimitive::createRnnBackward(const RnnDesc &op, const RnnTensors &tensors,
                                                  const void *hint) const {
  int status = -1, prop = static_cast<int>(op.prop), direction = static_cast<int>(op.direction);
  void *desc = nullptr, *engine = library.engine;
  const std::string name = functionOf(op.cell, "backward");
  auto at = [&](int32_t argument) { return tensors.at(argument); };
  if (op.cell == Alg::VanillaRnn) {
    if (auto *create = library.find<VanillaBackward>(name.c_str()))
      status = create(&desc, engine, prop, static_cast<int>(op.activation), direction, at(arg::src), at(arg::src1),
                      at(arg::weights), at(arg::weights1), at(arg::bias), at(arg::dst), at(arg::dst1), at(arg::diffSrc),
                      at(arg::diffSrc1), at(arg::diffWeights), at(arg::diffWeights1), at(arg::diffBias),
                      at(arg::diffDst), at(arg::diffDst1), op.flags, op.alpha, op.beta, hint, attributes);
  } else if (op.cell == Alg::VanillaLstm) {
    if (auto *create = library.find<LstmBackward>(name.c_str()))
      status =
          create(&desc, engine, prop, direction, at(arg::src), at(arg::src1), at(arg::src2), at(arg::weights),
                 at(arg::weights1), at(arg::weights2), at(arg::weights3), at(arg::bias), at(arg::dst), at(arg::dst1),
                 at(arg::dst2), at(arg::diffSrc), at(arg::diffSrc1), at(arg::diffSrc2), at(arg::diffWeights),
                 at(arg::diffWeights1), at(arg::diffWeights2), at(arg::diffWeights3), at(arg::diffBias),
                 at(arg::diffDst), at(arg::diffDst1), at(arg::diffDst2), op.flags, hint, attributes);
  } else if (op.attention.isZero()) {
    if (auto *create = library.find<GruBackward>(name.c_str()))
      status = create(&desc, engine, prop, direction, at(arg::src), at(arg::src1), at(arg::weights), at(arg::weights1),
                      at(arg::bias), at(arg::dst), at(arg::dst1), at(arg::diffSrc), at(arg::diffSrc1),
                      at(arg::diffWeights), at(arg::diffWeights1), at(arg::diffBias), at(arg::diffDst),
                      at(arg::diffDst1), op.flags, hint, attributes);
  } else if (auto *create = library.find<AugruBackward>(name.c_str())) {
    status = create(&desc, engine, prop, direction, at(arg::src), at(arg::src1), at(arg::attention), at(arg::weights),
                    at(arg::weights1), at(arg::bias), at(arg::dst), at(arg::dst1), at(arg::diffSrc), at(arg::diffSrc1),
                    at(arg::diffAttention), at(arg::diffWeights), at(arg::diffWeights1), at(arg::diffBias),
                    at(arg::diffDst), at(arg::diffDst1), op.flags, hint, attributes);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  return desc;
}

Result<void *> OneDnnPrimitive::createRnnBackward(const RnnDesc &op, const RnnTensors &at) {
  QUERN_ASSIGN_OR_RETURN(void *hint, createRnnForward(op, at, PropKind::ForwardTraining));
  for (const auto &[argument, layout] : chosenLayouts)
    if (argument != arg::workspace)
      forwardLayouts[argument] = nullptr;
  Result<void> kept = keepChosenLayouts(hint, forwardLayouts);
  auto *create = library.find<int(void **, Desc)>("dnnl_primitive_create");
  Result<void *> desc = kept ? createRnnBackward(op, at, hint) : Result<void *>(kept.takeError());
  const bool isMade = desc && create && create(&forward, hint) == 0;
  auto *destroy = library.find<int(void *)>("dnnl_primitive_desc_destroy");
  if (destroy)
    destroy(hint);
  if (desc && !isMade) {
    if (destroy)
      destroy(*desc);
    return unimplemented("oneDNN: no forward for this backward");
  }
  return desc;
}

Result<void *> OneDnnPrimitive::createDesc(const RnnDesc &op) {
  if (!op.seqLengths.isZero() || (op.flags & RnnStackConcatenated))
    return unimplemented("oneDNN: no lengths of sequences and no stack of both directions");
  QUERN_ASSIGN_OR_RETURN(RnnTensors at, describeRnnTensors(op));
  Result<void *> desc = isForward(op.prop) ? createRnnForward(op, at, op.prop) : createRnnBackward(op, at);
  if (!desc)
    return desc;
  if (op.prop != PropKind::ForwardInference)
    chosenLayouts[arg::workspace] = nullptr;
  Result<void> kept = keepChosenLayouts(*desc, chosenLayouts);
  return kept ? desc : Result<void *>(kept.takeError());
}

Result<void> OneDnnPrimitive::keepChosenLayouts(const void *primitiveDesc, std::map<int32_t, void *> &layouts) {
  auto *query = library.find<Desc(const void *, int, int)>("dnnl_primitive_desc_query_md");
  auto *clone = library.find<int(void **, Desc)>("dnnl_memory_desc_clone");
  for (auto &[argument, desc] : layouts) {
    Desc chosen = query ? query(primitiveDesc, quern_query_exec_arg_md, argument) : nullptr;
    if (!chosen || !clone || clone(&desc, chosen) != 0)
      return unimplemented("oneDNN: it has no own layout for argument ", argument);
    descs.push_back(desc);
  }
  return {};
}

Result<void> OneDnnPrimitive::fillChosen(const ArgumentInfo &argument, const void *layout, void *memory,
                                         const void *data) {
  if (argument.index == arg::workspace)
    return {};
  QUERN_ASSIGN_OR_RETURN(TensorDesc plain, TensorDesc::dense(argument.desc.shape(), argument.desc.dataType));
  std::vector<char> values(static_cast<size_t>(plain.bytes()));
  TensorDesc atStart = argument.desc; // the layout of `data`
  atStart.offset0 = 0;
  scatter(plain, values.data(), gather(atStart, data));
  return reorderInto(plain, values.data(), layout, memory);
}

bool OneDnnPrimitive::isMadeByForward(int32_t argument) const {
  return forward &&
         (argument == arg::dst || argument == arg::dst1 || argument == arg::dst2 || argument == arg::workspace);
}

Result<void> OneDnnPrimitive::addForwardMemory(const ArgumentInfo &argument, const void *data) {
  const auto layout = forwardLayouts.find(argument.index);
  if (layout == forwardLayouts.end())
    return {};
  void *memory = nullptr;
  auto *create = library.find<int(void **, Desc, void *, void *)>("dnnl_memory_create");
  if (!create || create(&memory, layout->second, library.engine, allocateMemory) != 0)
    return runtimeError("oneDNN: no memory for weights of forward");
  forwardMemories.push_back({argument.index, memory});
  return fillChosen(argument, layout->second, memory, data);
}

Result<void> OneDnnPrimitive::runForward() {
  if (!forward)
    return {};
  std::map<int32_t, void *> handles;
  for (const std::vector<Memory> *all : {&memories, &forwardMemories})
    for (const Memory &memory : *all)
      if (memory.argument <= arg::workspace) // gradients have larger numbers
        handles[memory.argument] = memory.handle;
  std::vector<Memory> args;
  for (const auto &[argument, handle] : handles)
    args.push_back({argument, handle});
  auto *execute = library.find<int(Desc, void *, int, const Memory *)>("dnnl_primitive_execute");
  auto *wait = library.find<int(void *)>("dnnl_stream_wait");
  if (!execute || !wait || execute(forward, library.stream, static_cast<int>(args.size()), args.data()) != 0 ||
      wait(library.stream) != 0)
    return runtimeError("oneDNN: execution of forward failed");
  return {};
}

} // namespace quern
