//===- Workspace.cpp - What training forward keeps for backward -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Workspace.h.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Workspace.h"

#include "Primitives/Rnn/Shape.h"
#include "Support/CheckedMath.h"
#include "Support/Digest.h"

#include <array>

namespace quern::rnn {
namespace {

struct Part {
  WorkspacePart part;
  DataType type;
  std::vector<int64_t> dims;
};

std::vector<Part> partsOf(const RnnDesc &rnn, const Shape &s) {
  const DataType state = rnn.srcLayer.dataType, f32 = DataType::F32;
  std::vector<Part> parts = {{WorkspacePart::Gates, f32, {s.layers, s.directions, s.steps, s.batch, s.gates, s.dhc}}};
  const std::vector<int64_t> everyStep = {s.layers, s.directions, s.steps, s.batch, s.dhc};
  if (isLstm(rnn))
    parts.push_back({WorkspacePart::Cells, f32, everyStep});
  if (isLinearBeforeReset(rnn))
    parts.push_back({WorkspacePart::HiddenSums, f32, everyStep});
  if (!rnn.weightsProjection.isZero())
    parts.push_back({WorkspacePart::States, state, {s.layers, s.directions, s.steps, s.batch, s.dic}});
  return parts;
}

} // namespace

const WorkspaceSection *WorkspaceLayout::find(WorkspacePart part) const {
  for (const WorkspaceSection &section : sections)
    if (section.part == part)
      return &section;
  return nullptr;
}

Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn) {
  WorkspaceLayout layout;
  CheckedInt bytes = workspaceHeaderBytes;
  for (const Part &part : partsOf(rnn, Shape::of(rnn))) {
    Result<TensorDesc> desc = TensorDesc::dense(part.dims, part.type);
    if (!desc)
      return Error{desc.error().status, "workspace: " + desc.error().message};
    layout.sections.push_back({part.part, bytes.value(), *desc});
    bytes += roundUp(desc->bytes(), 64);
    if (bytes.overflowed())
      return invalidArguments("the workspace has more than ", INT64_MAX, " bytes");
  }
  Result<TensorDesc> whole = TensorDesc::dense(std::array{bytes.value()}, DataType::U8);
  if (!whole)
    return whole.takeError();
  layout.desc = *whole;
  return layout;
}

WorkspaceHeader workspaceHeaderOf(const RnnDesc &rnn) {
  ByteWriter out;
  out.put(rnn.cell), out.put(rnn.direction), out.put(rnn.activation), out.put(rnn.alpha),
      out.put(rnn.flags & RnnStackConcatenated);
  for (const TensorDesc *tensor :
       {&rnn.srcLayer, &rnn.weightsLayer, &rnn.weightsIter, &rnn.weightsPeephole, &rnn.weightsProjection}) {
    out.put(tensor->ndims), out.put(tensor->dataType);
    for (int64_t dim : tensor->shape())
      out.put(dim);
  }
  Digest digest = digestOf(out.bytes);
  WorkspaceHeader header;
  header.shape[0] = digest.low, header.shape[1] = digest.high;
  return header;
}

} // namespace quern::rnn
