//===- OneDnnRnn.cpp - RNN primitives of a genuine oneDNN -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Packed weights and workspaces have a layout of the library's own: it is asked for them (`any`), and weights are
// reordered into what it answers when buffers are bound.
//
//===----------------------------------------------------------------------===//
#include "OneDnn.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"
#include "quern/quern_query.h"

#include <dlfcn.h>

namespace quern {
namespace {

using Desc = const void *;
using Vanilla = int(void **, void *, int, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, float, float,
                    const void *);
using Lstm = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned,
                 const void *);
using Gru = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, const void *);
using Augru = int(void **, void *, int, int, Desc, Desc, Desc, Desc, Desc, Desc, Desc, Desc, unsigned, const void *);

template <typename Function> Function *find(void *library, const char *name) {
  return reinterpret_cast<Function *>(dlsym(library, name));
}

bool isWeight(int32_t argument) {
  return argument == arg::weights || argument == arg::weights1 || argument == arg::weights3;
}
/// Whether the library has a word for this layout of weights, and takes it.
bool isTakenAsItIs(const TensorDesc &weights) { return weights.isPlain() && weights.dataType != DataType::S8; }

} // namespace

Result<const void *> OneDnnPrimitive::describeRnn(int32_t argument, const TensorDesc &tensor) {
  if (tensor.isZero())
    return nullptr;
  TensorDesc asked = tensor;
  if (isWeight(argument) && !isTakenAsItIs(tensor)) {
    asked = *TensorDesc::fromTag(tensor.shape(), tensor.dataType, "any");
    ownLayouts[argument] = nullptr;
  }
  Result<void *> desc = asked.isAny() ? describeAny(asked) : describe(asked);
  if (!desc)
    return desc.takeError();
  return static_cast<const void *>(*desc);
}

Result<void *> OneDnnPrimitive::describeAny(const TensorDesc &tensor) {
  void *desc = nullptr;
  constexpr int any = 1;
  auto *create = find<int(void **, int, const int64_t *, int, int)>(library.handle, "dnnl_memory_desc_create_with_tag");
  if (!create || create(&desc, tensor.ndims, tensor.dims, static_cast<int>(tensor.dataType), any) != 0)
    return unimplemented("oneDNN: refused layout any of a tensor");
  descs.push_back(desc);
  return desc;
}

Result<void *> OneDnnPrimitive::createDesc(const RnnDesc &op) {
  if (!op.seqLengths.isZero() || (op.flags & RnnStackConcatenated))
    return unimplemented("oneDNN: no lengths of sequences and no stack of both directions");
  std::map<int32_t, const void *> at;
  for (const auto &[argument, tensor] :
       {std::pair{arg::src, &op.srcLayer}, std::pair{arg::src1, &op.srcIter}, std::pair{arg::src2, &op.srcIterC},
        std::pair{arg::attention, &op.attention}, std::pair{arg::weights, &op.weightsLayer},
        std::pair{arg::weights1, &op.weightsIter}, std::pair{arg::weights2, &op.weightsPeephole},
        std::pair{arg::weights3, &op.weightsProjection}, std::pair{arg::bias, &op.bias},
        std::pair{arg::dst, &op.dstLayer}, std::pair{arg::dst1, &op.dstIter}, std::pair{arg::dst2, &op.dstIterC}}) {
    Result<const void *> desc = describeRnn(argument, *tensor);
    if (!desc)
      return desc.takeError();
    at[argument] = *desc;
  }
  int status = -1, prop = static_cast<int>(op.prop), direction = static_cast<int>(op.direction);
  void *desc = nullptr, *engine = library.engine;
  auto from = [&]<typename Function>(const char *name, auto call) {
    if (auto *function = find<Function>(library.handle, name))
      status = call(function);
  };
  auto gru = [&](Gru *create) {
    return create(&desc, engine, prop, direction, at[arg::src], at[arg::src1], at[arg::weights], at[arg::weights1],
                  at[arg::bias], at[arg::dst], at[arg::dst1], op.flags, attributes);
  };
  auto augru = [&](Augru *create) {
    return create(&desc, engine, prop, direction, at[arg::src], at[arg::src1], at[arg::attention], at[arg::weights],
                  at[arg::weights1], at[arg::bias], at[arg::dst], at[arg::dst1], op.flags, attributes);
  };
  switch (op.cell) {
  case Alg::VanillaRnn:
    from.operator()<Vanilla>("dnnl_vanilla_rnn_forward_primitive_desc_create", [&](Vanilla *create) {
      return create(&desc, engine, prop, static_cast<int>(op.activation), direction, at[arg::src], at[arg::src1],
                    at[arg::weights], at[arg::weights1], at[arg::bias], at[arg::dst], at[arg::dst1], op.flags, op.alpha,
                    op.beta, attributes);
    });
    break;
  case Alg::VanillaLstm:
    from.operator()<Lstm>("dnnl_lstm_forward_primitive_desc_create", [&](Lstm *create) {
      return create(&desc, engine, prop, direction, at[arg::src], at[arg::src1], at[arg::src2], at[arg::weights],
                    at[arg::weights1], at[arg::weights2], at[arg::weights3], at[arg::bias], at[arg::dst], at[arg::dst1],
                    at[arg::dst2], op.flags, attributes);
    });
    break;
  case Alg::VanillaGru:
    from.operator()<Gru>("dnnl_gru_forward_primitive_desc_create", gru);
    break;
  case Alg::LbrGru:
    from.operator()<Gru>("dnnl_lbr_gru_forward_primitive_desc_create", gru);
    break;
  case Alg::VanillaAugru:
    from.operator()<Augru>("dnnl_augru_forward_primitive_desc_create", augru);
    break;
  default:
    from.operator()<Augru>("dnnl_lbr_augru_forward_primitive_desc_create", augru);
  }
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  if (op.prop == PropKind::ForwardTraining)
    ownLayouts[arg::workspace] = nullptr;
  Result<void> kept = keepOwnLayouts(desc);
  return kept ? Result<void *>(desc) : kept.takeError();
}

/// Copies the descriptors that the primitive descriptor chose.
Result<void> OneDnnPrimitive::keepOwnLayouts(const void *primitiveDesc) {
  auto *query = find<Desc(const void *, int, int)>(library.handle, "dnnl_primitive_desc_query_md");
  auto *clone = find<int(void **, Desc)>(library.handle, "dnnl_memory_desc_clone");
  for (auto &[argument, desc] : ownLayouts) {
    Desc chosen = query ? query(primitiveDesc, quern_query_exec_arg_md, argument) : nullptr;
    if (!chosen || !clone || clone(&desc, chosen) != 0)
      return unimplemented("oneDNN: no layout of its own for argument ", argument);
    descs.push_back(desc);
  }
  return {};
}

Result<void> OneDnnPrimitive::fillOwn(const ArgumentInfo &argument, void *memory, const void *data) {
  if (argument.index == arg::workspace)
    return {};
  Result<TensorDesc> plain = TensorDesc::dense(argument.desc.shape(), argument.desc.dataType);
  if (!plain)
    return plain.takeError();
  std::vector<char> values(static_cast<size_t>(plain->bytes()));
  TensorDesc atStart = argument.desc; // as `data` is
  atStart.offset0 = 0;
  scatter(*plain, values.data(), gather(atStart, data));
  return reorderInto(*plain, values.data(), ownLayouts[argument.index], memory);
}

} // namespace quern
