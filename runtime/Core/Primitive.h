//===- Primitive.h - A kernel ready to run -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem with its executable and what the execution checks, laid out for a call that takes some tens of nanoseconds.
// Immutable but for the kernel that takes the place of its family's: any number of threads may execute one primitive at
// once.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_PRIMITIVE_H
#define QUERN_RUNTIME_CORE_PRIMITIVE_H

#include "Core/Problem.h"
#include "Core/RuntimeSizes.h"
#include "Support/StackArray.h"
#include "Tiers/Promotion.h"

#include "quern/quern_primitive.h"

#include <algorithm>
#include <optional>

namespace quern {

/// What a C primitive descriptor handle points to.
struct PrimitiveDescObject {
  std::shared_ptr<const Problem> problem; ///< others share it, so that it has no tiers
  Tiers tiers = Tiers::Default;
  /// The attributes that were given, where they are more than the problem's.
  std::shared_ptr<const Attributes> attributes{};
};

class Primitive {
public:
  /// As many sources as a concat may have, each with a scale, the destination and the scratchpad.
  static constexpr size_t maxArguments = 2 * maxSources + 2;

  /// Brings the kernel from a cache or compiles it.
  static Result<std::unique_ptr<Primitive>> create(PrimitiveDescObject desc);
  static Result<std::unique_ptr<Primitive>> createFromBlob(std::shared_ptr<const Problem> problem,
                                                           std::string_view blob, std::span<void *const> entries = {});

  /// Checks the arguments, then runs the launch steps. Arguments that are not the primitive's are ignored. `links`, if
  /// not null, orders it among a device's events. Thread-safe.
  Result<void> execute(Stream &stream, std::span<const quern_exec_arg_t> arguments,
                       const EventLinks *links = nullptr) const;

  const PrimitiveDescObject &descriptor() const { return desc; }
  const Problem &problem() const { return *desc.problem; }
  /// Its own kernel, compiled now if it has its family's; null if it has none. It lives as long as the primitive.
  Result<const Executable *> executable() const;
  /// Until executions run its own kernel. `not_required` if they are to run the family's (QUERN_TIERS).
  Result<void> waitSpecialised() const;
  quern_primitive_info_t info() const;

private:
  struct Slot {
    int32_t index;
    const TensorDesc *desc; ///< into the problem, or `scratchpad`
    const std::string *name;
    size_t sizeCount;     ///< runtime sizes that its memory brings
    const Engine *engine; ///< where its memory is
    bool isOutput, isUpdated;
    int32_t overwrittenBy = 0; ///< as in ArgumentInfo
    InPlace inPlace = InPlace::ElementSize;
    const std::string *header = nullptr; ///< as in ArgumentInfo
    bool isWritten() const { return isOutput || index == arg::scratchpad; }
  };
  /// Up to this number of slots, slots are searched linearly and executions need no heap.
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
  class Given {
  public:
    Given(size_t slots, size_t sizeCount)
        : block(slots * 2 * sizeof(void *) + sizeCount * sizeof(int64_t)),
          buffers(reinterpret_cast<void **>(block.data())),
          memories(reinterpret_cast<const Memory **>(block.data() + slots * sizeof(void *))),
          sizes(reinterpret_cast<int64_t *>(block.data() + slots * 2 * sizeof(void *))) {}

  private:
    StackArray<std::byte, fewSlots * 2 * sizeof(void *) + 64 * sizeof(int64_t)> block;

  public:
    void **const buffers;
    const Memory **const memories;
    int64_t *const sizes; ///< as quern_kernel_args::sizes
  };

  static Result<std::unique_ptr<Primitive>> make(PrimitiveDescObject desc, Result<AcquiredKernel> acquired,
                                                 int64_t start, Tiers tiers = Tiers::Specialised);
  Primitive(PrimitiveDescObject desc, AcquiredKernel acquired);
  Result<void> addSlots();
  /// What an execution that begins now runs.
  const Executable *running() const {
    const Executable *own = promotion ? promotion->promoted() : nullptr;
    return own ? own : kernel.get();
  }
  /// The slot of an argument, or slots.size(); `likely` is looked at first.
  size_t findSlot(int32_t index, size_t likely) const;
  Result<void> collect(std::span<const quern_exec_arg_t> arguments, Given &given) const;
  Error misplaced(const Slot &slot, const Memory &memory) const;
  Result<void> collectSizes(Given &given) const;
  Result<void> checkOverlap(const Given &given) const;
  /// That the header of the one argument that has one is as forward writes it; asked only where a slot has a header.
  Result<void> checkHeader(const Given &given) const;
  Error overlapping(const Slot &output, const Memory &written, const Slot &other, const Memory &read) const;
  bool isEmpty(const Given &given) const;
  Error missing(const SlotSet &given) const;
  Result<void> run(Stream &stream, const Given &given, const EventLinks *links) const;
  Result<void> runDescribed(Stream &stream, const Given &given, Call &call, const EventLinks *links) const;
  Result<void> runAcross(Stream &stream, const Given &given, const Call &onDevice, const EventLinks *links) const;

  PrimitiveDescObject desc;
  std::shared_ptr<const Executable> kernel; ///< that it began with
  std::shared_ptr<Promotion> promotion;     ///< of one that began with its family's
  bool isPromotable = false;                ///< it may run another
  std::vector<Slot> slots; ///< the kernel's arguments in their order, then the scratchpad if the caller gives it
  std::vector<size_t> slotsByIndex; ///< sorted by argument, where there are many
  size_t sizeCount = 0;             ///< of all slots
  size_t elsewhere = maxArguments;  ///< the slot whose memory is not the engine's; maxArguments: none
  size_t headed = maxArguments;     ///< the slot that has a header which the CPU can read; maxArguments: none
  AcquiredKernel origin;
  int64_t createNs = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_PRIMITIVE_H
