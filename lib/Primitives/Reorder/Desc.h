//===- Desc.h - Descriptor of a reorder -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REORDER_DESC_H
#define QUERN_PRIMITIVES_REORDER_DESC_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

struct ReorderDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Reorder;
  TensorDesc src, dst;
  EngineKind srcEngine = EngineKind::Cpu, dstEngine = EngineKind::Cpu;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("src", self.src), visit("dst", self.dst), visit("src_engine", self.srcEngine),
        visit("dst_engine", self.dstEngine);
  }
  /// Replaces fields that do not affect the kernel, by set(field, value).
  template <typename Self, typename Set> static void makeCanonical(Self &self, Set &set) {
    set(self.srcEngine, EngineKind::Cpu), set(self.dstEngine, EngineKind::Cpu);
  }
  bool operator==(const ReorderDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_REORDER_DESC_H
