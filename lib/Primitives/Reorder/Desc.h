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
  /// Calls set(field, value) with the canonical value of each field whose exact value does not affect the kernel.
  template <typename Self, typename Set> static void makeCanonical(Self &self, Set &set) {
    set(self.srcEngine, EngineKind::Cpu), set(self.dstEngine, EngineKind::Cpu);
  }
  bool operator==(const ReorderDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_REORDER_DESC_H
