//===- Workspace.h - What training forward keeps for backward -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The bytes of the argument `workspace`, version 2: a header, then dense sections, each from a multiple of 64 on.
// Time indices are those of the sequence in both directions. What lies behind the end of a sequence that is
// shorter than T is not specified.
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

inline constexpr uint32_t workspaceVersion = 2;
inline constexpr int64_t workspaceHeaderBytes = 64;

struct WorkspaceLayout {
  std::vector<WorkspaceSection> sections; ///< in the order of their offsets
  TensorDesc desc;                        ///< 1-D u8, the whole
  const WorkspaceSection *find(WorkspacePart part) const;
};

/// Of a verified forward problem; overflow of 64 bits is `invalid_arguments`.
Result<WorkspaceLayout> workspaceOf(const RnnDesc &rnn);

/// What the header holds: the letters QRNNWS, version and a digest of the shape, by which backward knows the
/// workspace of its forward.
struct WorkspaceHeader {
  char magic[8] = {'Q', 'R', 'N', 'N', 'W', 'S', 0, 0};
  uint32_t version = workspaceVersion;
  uint32_t reserved0 = 0;
  uint64_t shape[2] = {}; ///< digest of cell, direction, flags, dims and types
  char reserved1[32] = {};
};
static_assert(sizeof(WorkspaceHeader) == workspaceHeaderBytes);
WorkspaceHeader workspaceHeaderOf(const RnnDesc &rnn);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_WORKSPACE_H
