//===- Primitive.h - A kernel ready to run -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem with its executable and the data for checking an execution, laid out for calls that take tens of
// nanoseconds. Immutable, except that a specialized kernel may replace the kernel of the family. Any number of threads
// may execute one primitive concurrently.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_PRIMITIVE_H
#define QUERN_RUNTIME_CORE_PRIMITIVE_H

#include "Core/Problem.h"
#include "Core/Promotion.h"
#include "Engine/RuntimeSizes.h"
#include "Support/StackArray.h"

#include "quern/quern_primitive.h"

#include <algorithm>
#include <optional>

namespace quern {

/// The object of a C primitive descriptor handle.
struct PrimitiveDescObject {
  std::shared_ptr<const Problem> problem; ///< shared by other descriptors; therefore has no tiers
  Tiers tiers = Tiers::Default;
  /// The attributes that the caller passed, if the problem has only some of them; otherwise null.
  std::shared_ptr<const Attributes> attributes{};
};

class Primitive {
public:
  /// Sufficient for the maximum number of sources of a concat, a scale for each source, the destination and the
  /// scratchpad.
  static constexpr size_t maxArguments = 2 * maxSources + 2;

  /// Fetches the kernel from a cache or compiles it.
  static Result<std::unique_ptr<Primitive>> create(PrimitiveDescObject desc);
  static Result<std::unique_ptr<Primitive>> createFromBlob(std::shared_ptr<const Problem> problem,
                                                           std::string_view blob, std::span<void *const> entries = {});

  /// Checks the arguments, then runs the launch steps. Arguments that the primitive does not have are ignored. `links`,
  /// if not null, orders the execution relative to a device's events. Thread-safe.
  Result<void> execute(Stream &stream, std::span<const quern_exec_arg_t> arguments,
                       const EventLinks *links = nullptr) const;

  const PrimitiveDescObject &descriptor() const { return desc; }
  const Problem &problem() const { return *desc.problem; }
  /// Returns the specialized kernel, which is compiled now if the primitive has the kernel of its family; null if the
  /// problem has no kernel. It lives as long as the primitive.
  Result<const Executable *> executable() const;
  /// Waits until executions run the specialized kernel. Fails with `not_required` if they keep the family's kernel
  /// (QUERN_TIERS).
  Result<void> waitSpecialized() const;
  quern_primitive_info_t info() const;

private:
  struct Slot {
    int32_t index;
    const TensorDesc *desc; ///< owned by the problem
    const std::string *name;
    size_t sizeCount;     ///< number of runtime sizes that the argument's memory determines
    const Engine *engine; ///< engine that the argument's memory must be on
    bool isOutput, isUpdated;
    int32_t overwrittenBy = 0; ///< see ArgumentInfo
    InPlace inPlace = InPlace::ElementSize;
    const std::string *header = nullptr; ///< see ArgumentInfo
    bool isWritten() const { return isOutput || index == arg::scratchpad; }
  };
  /// Up to this number of slots, slots are searched linearly, and arrays with one element per slot need no heap.
  static constexpr size_t fewSlots = 16;
  template <typename Element> using OfSlots = StackArray<Element, fewSlots>;
  /// One bit for each slot, initially clear.
  class SlotSet {
  public:
    explicit SlotSet(size_t count) : words(count / 64 + 1) { std::fill_n(words.data(), count / 64 + 1, uint64_t(0)); }
    bool operator[](size_t slot) const { return words[slot / 64] >> slot % 64 & 1; }
    void set(size_t slot) { words[slot / 64] |= uint64_t(1) << slot % 64; }

  private:
    StackArray<uint64_t, 1> words;
  };
  /// The buffers, memories and sizes of one execution, in the order of `slots`.
  class BoundArguments {
  public:
    BoundArguments(size_t slots, size_t sizeCount)
        : block(slots * 2 * sizeof(void *) + sizeCount * sizeof(int64_t)),
          buffers(reinterpret_cast<void **>(block.data())),
          memories(reinterpret_cast<const Memory **>(block.data() + slots * sizeof(void *))),
          sizes(reinterpret_cast<int64_t *>(block.data() + slots * 2 * sizeof(void *))) {}

  private:
    StackArray<std::byte, fewSlots * 2 * sizeof(void *) + 64 * sizeof(int64_t)> block;

  public:
    void **const buffers;
    const Memory **const memories;
    int64_t *const sizes; ///< value of quern_kernel_args::sizes
  };

  static Result<std::unique_ptr<Primitive>> make(PrimitiveDescObject desc, Result<AcquiredKernel> acquired,
                                                 int64_t start, Tiers tiers = Tiers::Specialized);
  Primitive(PrimitiveDescObject desc, AcquiredKernel acquired);
  Result<void> addSlots();
  /// Returns the kernel for an execution that starts now.
  const Executable *running() const {
    const Executable *own = promotion ? promotion->promoted() : nullptr;
    return own ? own : kernel.get();
  }
  /// Returns the slot of an argument, or slots.size(). Checks `likely` first.
  size_t findSlot(int32_t index, size_t likely) const;
  Result<void> collect(std::span<const quern_exec_arg_t> arguments, BoundArguments &given) const;
  Error misplaced(const Slot &slot, const Memory &memory) const;
  Result<void> collectSizes(BoundArguments &given) const;
  Result<void> checkOverlap(const BoundArguments &given) const;
  /// Checks that the argument with a header has the header that the forward execution writes. Called only if there is
  /// one.
  Result<void> checkHeader(const BoundArguments &given) const;
  Error overlapping(const Slot &output, const Memory &written, const Slot &other, const Memory &read) const;
  bool isEmpty(const BoundArguments &given) const;
  Error missing(const SlotSet &given) const;
  Result<void> run(Stream &stream, const BoundArguments &given, const EventLinks *links) const;
  Result<void> runDescribed(Stream &stream, const BoundArguments &given, Call &call, const EventLinks *links) const;
  Result<void> runAcross(Stream &stream, const BoundArguments &given, const Call &onDevice,
                         const EventLinks *links) const;

  PrimitiveDescObject desc;
  std::shared_ptr<const Executable> kernel; ///< kernel that the primitive starts with
  std::shared_ptr<Promotion> promotion;     ///< replaces the kernel of a family; null: the kernel is specialized
  bool isPromotable = false;                ///< true if the specialized kernel may replace that of the family
  std::vector<Slot> slots; ///< the kernel's arguments in their order, then the scratchpad if the caller owns it
  std::vector<size_t> slotsByIndex; ///< positions in `slots`, sorted by argument; empty if there are few slots
  size_t sizeCount = 0;             ///< number of runtime sizes of all slots
  size_t elsewhere = maxArguments;  ///< slot whose memory is not on the stream's device; maxArguments: none
  size_t headed = maxArguments;     ///< slot that has a header which the CPU can read; maxArguments: none
  AcquiredKernel origin;
  int64_t createNs = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_PRIMITIVE_H
