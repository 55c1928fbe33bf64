//===- Workspace.h - What training forward keeps for backward -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The bytes of the argument `workspace`, version 3: a header, then dense sections, each from a multiple of 64 on.
// Time indices are those of the sequence in both directions. What lies behind the end of a sequence that is
// shorter than T is not specified. Whether T and N were known when the problem was made changes nothing.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_WORKSPACE_H
#define QUERN_PRIMITIVES_RNN_WORKSPACE_H

#include "Desc/PrimitiveDesc.h"

#include <vector>

namespace quern::rnn {

enum class WorkspacePart {
  Gates,      ///< [L, D, T, N, G, DHC] activated: LSTM i f c~ o, GRU u r o (u without attention), vanilla h
              ///< (keepsSums: its sum)
  Cells,      ///< [L, D, T, N, DHC] c; LSTM
  HiddenSums, ///< [L, D, T, N, DHC] U_o h + b_u', before r multiplies it; linear before reset
  States,     ///< [L, D, T, N, DIC] h as the next step reads it; LSTM with projection, others are made from gates
};

/// A part that this problem has. Parts of cells, gates and sums are f32; states are of the type of src_layer.
struct WorkspaceSection {
  WorkspacePart part;
  int64_t byteOffset = 0;
  TensorDesc desc; ///< dense, of the part alone
};

inline constexpr uint32_t workspaceVersion = 3;
inline constexpr int64_t workspaceHeaderBytes = 64;

struct WorkspaceLayout {
  std::vector<WorkspaceSection> sections; ///< in the order of their offsets
  TensorDesc desc;                        ///< 1-D u8, the whole
  const WorkspaceSection *find(WorkspacePart part) const;
};

/// Of a verified problem; overflow of 64 bits is `invalid_arguments`. Where T or N are open, so is its dim; the offsets
/// of the sections are those for sizes of 1.
Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn);
/// The same of an execution with these sizes.
Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn, int64_t steps, int64_t batch);

/// What the header holds: the letters QRNNWS, version, a digest of the kind of problem and the sizes, by which backward
/// knows the workspace of its forward.
struct WorkspaceHeader {
  char magic[8] = {'Q', 'R', 'N', 'N', 'W', 'S', 0, 0};
  uint32_t version = workspaceVersion;
  uint32_t reserved0 = 0;
  uint64_t shape[2] = {};       ///< digest of cell, direction, flags, dims but T and N, and types
  int64_t steps = 0, batch = 0; ///< T and N
  char reserved1[16] = {};
};
static_assert(sizeof(WorkspaceHeader) == workspaceHeaderBytes);
/// T or N that are open are 0.
WorkspaceHeader workspaceHeaderOf(const RnnDesc &rnn);

/// Where T or N are open, kernels take these sizes of the workspace in place of its bytes, which an execution finds
/// out: as the dims of an ArgumentInfo's grid.
enum WorkspaceSize : int {
  WorkspaceRows,   ///< T N
  WorkspaceChunks, ///< of `chunkRows` rows each, the last one filled up
  WorkspaceOffsets ///< of the sections behind the first, in bytes
};
inline constexpr int64_t chunkRows = 64;
/// Of a problem with open sizes.
TensorDesc workspaceGridOf(const RnnDesc &rnn);
/// The same of an execution with these sizes.
Result<TensorDesc> workspaceGridOf(const RnnDesc &rnn, int64_t steps, int64_t batch);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_WORKSPACE_H
