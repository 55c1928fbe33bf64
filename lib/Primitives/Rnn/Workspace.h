//===- Workspace.h - Workspace between training forward and backward ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layout of the argument `workspace`, version 3: a header, then dense sections, each at a multiple of 64 bytes. Both
// directions index time in the order of the sequence. Entries after the end of a sequence shorter than T are
// unspecified. The layout does not depend on whether T and N were known when the problem was created.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_WORKSPACE_H
#define QUERN_PRIMITIVES_RNN_WORKSPACE_H

#include "Desc/PrimitiveDesc.h"

#include <vector>

namespace quern::rnn {

enum class WorkspacePart {
  Gates,      ///< [L, D, T, N, G, DHC] activated: LSTM i f c~ o, GRU u r o (u without attention), vanilla h
              ///< (keepsSums(): its sum)
  Cells,      ///< [L, D, T, N, DHC] c; only LSTM
  HiddenSums, ///< [L, D, T, N, DHC] U_o h + b_u' before the product with r; linear before reset
  States,     ///< [L, D, T, N, DIC] h as the next step reads it; LSTM with projection (other states can be recomputed)
};

/// A section of the workspace. Gates, cells and sums are f32; states have the type of src_layer.
struct WorkspaceSection {
  WorkspacePart part;
  int64_t byteOffset = 0;
  TensorDesc desc; ///< dense, of this part only
};

inline constexpr uint32_t workspaceVersion = 3;
inline constexpr int64_t workspaceHeaderBytes = 64;

struct WorkspaceLayout {
  std::vector<WorkspaceSection> sections; ///< in the order of their offsets
  TensorDesc desc;                        ///< the whole workspace, 1-D u8
  const WorkspaceSection *find(WorkspacePart part) const;
};

/// Returns the layout for a verified problem; fails with `invalid_arguments` if 64 bits overflow. If T or N are open,
/// so is the dim of `desc`, and the offsets of the sections are those for open sizes of 1.
Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn);
/// Returns the layout for an execution with these sizes.
Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn, int64_t steps, int64_t batch);

/// Contents of the header, by which backward recognizes the workspace of its forward.
struct WorkspaceHeader {
  char magic[8] = {'Q', 'R', 'N', 'N', 'W', 'S', 0, 0};
  uint32_t version = workspaceVersion;
  uint32_t reserved0 = 0;
  uint64_t shape[2] = {};       ///< digest of cell, activation, direction, stack flag, and types and dims of weights
  int64_t steps = 0, batch = 0; ///< T and N
  char reserved1[16] = {};
};
static_assert(sizeof(WorkspaceHeader) == workspaceHeaderBytes);
/// Returns the header; T and N are 0 if they are open.
WorkspaceHeader workspaceHeaderOf(const RnnDesc &rnn);

/// If T or N are open, kernels receive these sizes of the workspace, as the dims of an ArgumentInfo's grid, instead of
/// its size in bytes.
enum WorkspaceSize : int {
  WorkspaceRows,   ///< T N
  WorkspaceChunks, ///< number of chunks of `chunkRows` rows, the last one padded
  WorkspaceOffsets ///< byte offsets of the sections after the first
};
inline constexpr int64_t chunkRows = 64;
/// Returns the grid of a problem with open sizes.
TensorDesc workspaceGridOf(const RnnDesc &rnn);
/// Returns the grid for an execution with these sizes.
Result<TensorDesc> workspaceGridOf(const RnnDesc &rnn, int64_t steps, int64_t batch);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_WORKSPACE_H
