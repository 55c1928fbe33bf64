//===- Workspace.cpp - Workspace between training forward and backward ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  const Shape s = Shape::of(rnn);
  if (!s.isOpen())
    return workspaceOf(rnn, s.steps, s.batch);
  Result<WorkspaceLayout> layout =
      workspaceOf(rnn, s.steps == runtimeDim ? 1 : s.steps, s.batch == runtimeDim ? 1 : s.batch);
  if (layout)
    layout->desc = *TensorDesc::dense(std::array{runtimeDim}, DataType::U8);
  return layout;
}

Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn, int64_t steps, int64_t batch) {
  WorkspaceLayout layout;
  CheckedInt bytes = workspaceHeaderBytes;
  Shape s = Shape::of(rnn);
  s.steps = steps, s.batch = batch;
  for (const Part &part : partsOf(rnn, s)) {
    Result<TensorDesc> desc = TensorDesc::dense(part.dims, part.type);
    if (!desc)
      return Error{desc.error().status, "workspace: " + desc.error().message};
    layout.sections.push_back({part.part, bytes.value(), *desc});
    bytes += roundUp(desc->bytes(), 64);
    if (bytes.overflowed())
      return invalidArguments("the workspace has more than ", INT64_MAX, " bytes");
  }
  QUERN_ASSIGN_OR_RETURN(TensorDesc whole, TensorDesc::dense(std::array{bytes.value()}, DataType::U8));
  layout.desc = whole;
  return layout;
}

WorkspaceHeader workspaceHeaderOf(const RnnDesc &rnn) {
  ByteWriter out;
  out.put(rnn.cell), out.put(rnn.direction), out.put(rnn.activation), out.put(rnn.alpha),
      out.put(rnn.flags & RnnStackConcatenated);
  out.put(rnn.srcLayer.dataType);
  for (const TensorDesc *tensor : {&rnn.weightsLayer, &rnn.weightsIter, &rnn.weightsPeephole, &rnn.weightsProjection}) {
    out.put(tensor->ndims), out.put(tensor->dataType);
    for (int64_t dim : tensor->shape())
      out.put(dim);
  }
  const Shape s = Shape::of(rnn);
  Digest digest = digestOf(out.bytes);
  WorkspaceHeader header;
  header.shape[0] = digest.low, header.shape[1] = digest.high;
  header.steps = s.steps == runtimeDim ? 0 : s.steps, header.batch = s.batch == runtimeDim ? 0 : s.batch;
  return header;
}

TensorDesc workspaceGridOf(const RnnDesc &rnn) {
  const Shape s = Shape::of(rnn);
  TensorDesc grid = *TensorDesc::dense(std::array{runtimeDim}, DataType::U8);
  grid.ndims = WorkspaceOffsets + static_cast<int>(partsOf(rnn, s).size()) - 1;
  for (int d = 0; d < grid.ndims; ++d)
    grid.dims[d] = grid.paddedDims[d] = runtimeDim, grid.strides[d] = 1;
  return grid;
}

Result<TensorDesc> workspaceGridOf(const RnnDesc &rnn, int64_t steps, int64_t batch) {
  QUERN_ASSIGN_OR_RETURN(WorkspaceLayout layout, workspaceOf(rnn, steps, batch));
  TensorDesc grid = workspaceGridOf(rnn);
  const int64_t rows = steps * batch; // cannot overflow, because no section has fewer elements
  grid.dims[WorkspaceRows] = rows;
  grid.dims[WorkspaceChunks] = (rows + chunkRows - 1) / chunkRows;
  for (size_t i = 1; i < layout.sections.size(); ++i)
    grid.dims[WorkspaceOffsets + i - 1] = layout.sections[i].byteOffset;
  return grid;
}

} // namespace quern::rnn
