//===- Primitive.cpp - A kernel ready to run -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creation of a primitive, and the checks before a launch.
//
//===----------------------------------------------------------------------===//
#include "Core/Primitive.h"

#include "Core/Specializer.h"
#include "Desc/Text/TextForm.h"
#include "Engine/Device.h"
#include "Engine/Overlap.h"
#include "Events/Events.h"
#include "Kernels/Blob.h"
#include "Support/Cancellation.h"
#include "Support/Clock.h"

#include <algorithm>
#include <numeric>

namespace quern {
namespace {

const std::string &scratchpadName = *new std::string("scratchpad"); // never destroyed

/// Returns a == b for valid descriptors. Skips the entries that the rank leaves unused, most of their 768 bytes.
bool sameDesc(const TensorDesc &a, const TensorDesc &b) {
  if (a.ndims != b.ndims || a.dataType != b.dataType || a.formatKind != b.formatKind || a.offset0 != b.offset0 ||
      a.innerBlockCount != b.innerBlockCount || (a.extras.flags | b.extras.flags))
    return a == b;
  int64_t difference = 0;
  for (int d = 0; d < a.ndims; ++d)
    difference |= (a.dims[d] ^ b.dims[d]) | (a.paddedDims[d] ^ b.paddedDims[d]) |
                  (a.paddedOffsets[d] ^ b.paddedOffsets[d]) | (a.strides[d] ^ b.strides[d]);
  for (int i = 0; i < a.innerBlockCount; ++i)
    difference |= (a.innerBlocks[i] ^ b.innerBlocks[i]) | (a.innerIndices[i] ^ b.innerIndices[i]);
  return difference == 0;
}

/// Returns true if memory with another descriptor has the same elements at the same addresses. Dims of size 1 may be
/// added, dropped or have any stride, and a vector of scales may have the dims of its tensor. A source may be followed
/// by compensation, which this primitive ignores.
bool servesAs(const TensorDesc &given, const TensorDesc &declared, bool isOutput) {
  const uint64_t unwanted = isOutput ? given.extras.flags : given.extras.flags & ExtraScaleAdjust;
  return given.dataType == declared.dataType && (unwanted | declared.extras.flags) == 0 && given.sameStorage(declared);
}

void reportCreated(const Primitive &primitive) {
  const quern_primitive_info_t info = primitive.info();
  if (printsAt(2))
    printLine({"create", nameOfOrigin(info.origin), primitive.problem().verified(), primitive.problem().text(),
               info.create_ns, info.key});
  notifyListeners({.kind = quern_event_create, .ns = info.create_ns, .primitive = &primitive, .origin = info.origin});
}

void reportExecuted(const Primitive &primitive, std::span<const quern_exec_arg_t> arguments, int64_t ns) {
  if (printsAt(1))
    printLine({"exec", "cpu", primitive.problem().verified(), primitive.problem().text(), ns, primitive.info().key});
  notifyListeners({.kind = quern_event_execute, .ns = ns, .primitive = &primitive, .arguments = arguments});
}

} // namespace

Primitive::Primitive(PrimitiveDescObject desc, AcquiredKernel acquired)
    : desc(std::move(desc)), kernel(acquired.executable), origin(std::move(acquired)) {}

Result<std::unique_ptr<Primitive>> Primitive::create(PrimitiveDescObject desc) {
  const int64_t start = nowNs();
  const Result<Tiers> wanted = desc.problem->tiers(desc.tiers);
  if (!wanted)
    return wanted.error();
  Result<AcquiredKernel> acquired = desc.problem->acquire(*wanted);
  return make(std::move(desc), std::move(acquired), start, *wanted);
}

Result<std::unique_ptr<Primitive>> Primitive::createFromBlob(std::shared_ptr<const Problem> problem,
                                                             std::string_view blob, std::span<void *const> entries) {
  const int64_t start = nowNs();
  if (!problem->hasKernel())
    return make({std::move(problem)}, AcquiredKernel{.origin = quern_origin_none}, start);
  Result<AcquiredKernel> acquired =
      loadBlob(blob, problem->verified(), problem->engine()->target, problem->engine()->device, entries);
  if (acquired && problem->usesCallerScratchpad())
    problem->adopt(acquired->executable);
  return make({std::move(problem)}, std::move(acquired), start);
}

Result<std::unique_ptr<Primitive>> Primitive::make(PrimitiveDescObject desc, Result<AcquiredKernel> acquired,
                                                   int64_t start, Tiers tiers) {
  if (!acquired)
    return acquired.takeError();
  std::unique_ptr<Primitive> primitive(new Primitive(std::move(desc), std::move(*acquired)));
  QUERN_RETURN_IF_ERROR(primitive->addSlots());
  if (!primitive->origin.familySizes.empty()) {
    primitive->promotion = std::make_shared<Promotion>(primitive->desc.problem);
    primitive->isPromotable = tiers == Tiers::Both;
    if (primitive->isPromotable)
      Specializer::process().request(primitive->promotion);
  }
  primitive->createNs = nowNs() - start;
  if (isWanted(EventCreate))
    reportCreated(*primitive);
  return primitive;
}

Result<void> Primitive::addSlots() {
  const std::vector<ArgumentInfo> &arguments = problem().verified().arguments;
  if (arguments.size() + 1 > maxArguments)
    return unimplemented("the primitive takes ", arguments.size(), " arguments; the limit is ", maxArguments - 1);
  slots.reserve(arguments.size() + 1);
  for (const ArgumentInfo &argument : arguments)
    slots.push_back({argument.index, &argument.desc, &argument.name, static_cast<size_t>(argument.runtimeSizes()),
                     problem().engineOf(argument.index), argument.isOutput, argument.isUpdated, argument.overwrittenBy,
                     argument.inPlace, argument.header.get()});
  for (const Slot &slot : slots) {
    sizeCount += slot.sizeCount;
    if (slot.engine->device != problem().engine()->device)
      elsewhere = static_cast<size_t>(&slot - slots.data());
    if (slot.header && !slot.engine->device)
      headed = static_cast<size_t>(&slot - slots.data());
  }
  if (sizeCount > maxRuntimeSizes)
    return unimplemented("the primitive has ", sizeCount, " runtime dims, strides and offsets; the limit is ",
                         maxRuntimeSizes);
  if (problem().usesCallerScratchpad() && kernel && (kernel->scratch().any() || kernel->program().hasOpenRegions())) {
    QUERN_ASSIGN_OR_RETURN(const TensorDesc *scratchpad, problem().scratchpadDesc());
    if (const int64_t needed = scratchpadBytes(kernel->scratch(), problem().scratchpadThreads());
        needed > scratchpad->bytes())
      return unimplemented("the kernel needs a scratchpad of ", needed,
                           " bytes; the descriptor's, from another kernel, has ", scratchpad->bytes());
    slots.push_back({arg::scratchpad, scratchpad, &scratchpadName, 0, problem().engine().get(), false, false});
  }
  if (slots.size() <= fewSlots)
    return {};
  slotsByIndex.resize(slots.size());
  std::iota(slotsByIndex.begin(), slotsByIndex.end(), size_t(0));
  std::sort(slotsByIndex.begin(), slotsByIndex.end(),
            [&](size_t a, size_t b) { return slots[a].index < slots[b].index; });
  return {};
}

size_t Primitive::findSlot(int32_t index, size_t likely) const {
  if (likely < slots.size() && slots[likely].index == index)
    return likely;
  if (slotsByIndex.empty())
    return static_cast<size_t>(
        std::find_if(slots.begin(), slots.end(), [&](const Slot &slot) { return slot.index == index; }) -
        slots.begin());
  const auto found = std::lower_bound(slotsByIndex.begin(), slotsByIndex.end(), index,
                                      [&](size_t slot, int32_t wanted) { return slots[slot].index < wanted; });
  return found != slotsByIndex.end() && slots[*found].index == index ? *found : slots.size();
}

Error Primitive::missing(const SlotSet &given) const {
  for (size_t i = 0; i < slots.size(); ++i)
    if (!given[i])
      return invalidArguments("argument ", slots[i].index, " (", *slots[i].name, ") is missing",
                              problem().verified().citations.missing);
  return internalError("no argument is missing");
}

Error Primitive::misplaced(const Slot &slot, const Memory &memory) const {
  const bool isOfKind = memory.engine->kind == slot.engine->kind;
  return invalidArguments("argument ", slot.index, " (", *slot.name, ") is on another ",
                          isOfKind ? "device" : "kind of engine", " than ",
                          slot.engine->device == problem().engine()->device ? "the stream" : "the primitive has it");
}

Result<void> Primitive::collect(std::span<const quern_exec_arg_t> arguments, BoundArguments &given) const {
  SlotSet present(slots.size());
  size_t count = 0, next = 0; // `present` detects duplicates; arguments often come in the order of slots
  for (const quern_exec_arg_t &argument : arguments) {
    const size_t position = findSlot(argument.arg, next);
    if (position == slots.size())
      continue;
    next = position + 1;
    const auto slot = slots.begin() + static_cast<ptrdiff_t>(position);
    const auto *memory = reinterpret_cast<const Memory *>(argument.memory);
    if (present[position])
      return invalidArguments("argument ", slot->index, " (", *slot->name, ") is given twice");
    if (!memory)
      return invalidArguments("the memory of argument ", slot->index, " (", *slot->name, ") is null");
    if (slot->sizeCount == 0 && !sameDesc(memory->desc, *slot->desc) &&
        !servesAs(memory->desc, *slot->desc, slot->isOutput))
      return invalidArguments("argument ", slot->index, " (", *slot->name, ") is ", textOf(memory->desc),
                              "; the primitive takes ", textOf(*slot->desc));
    if (memory->engine.get() && memory->engine->device != slot->engine->device) // a host scalar has no engine
      return misplaced(*slot, *memory);
    if (!memory->data && memory->bytes > 0)
      return invalidArguments("argument ", slot->index, " (", *slot->name, ") has no buffer; it needs ", memory->bytes,
                              " bytes");
    present.set(position);
    ++count;
    given.buffers[position] = memory->data;
    given.memories[position] = memory;
  }
  if (count != slots.size())
    return missing(present);
  if (sizeCount == 0)
    return {};
  Result<void> sizes = collectSizes(given);
  if (!sizes)
    return Error{sizes.error().status, concat(sizes.error().message, problem().verified().citations.unfitting)};
  return {};
}

Result<void> Primitive::collectSizes(BoundArguments &given) const {
  const VerifiedProblem &verified = problem().verified();
  std::span<int64_t> left(given.sizes, sizeCount);
  OfSlots<const TensorDesc *> descs(verified.arguments.size());
  for (size_t i = 0; i < verified.arguments.size(); ++i) {
    descs[i] = &given.memories[i]->desc;
    if (slots[i].sizeCount == 0)
      continue;
    const ArgumentInfo &argument = verified.arguments[i];
    QUERN_RETURN_IF_ERROR(argument.grid ? takeGridSizes(verified, i, {descs.data(), i + 1}, left)
                                        : takeRuntimeSizes(argument, *descs[i], left));
    left = left.subspan(slots[i].sizeCount);
  }
  const auto checkDims = verified.checkSizes ? verified.checkSizes : checkSharedDims;
  QUERN_RETURN_IF_ERROR(checkDims(verified, {descs.data(), verified.arguments.size()}));
  return checkVectors(verified, {descs.data(), verified.arguments.size()});
}

Result<void> Primitive::checkOverlap(const BoundArguments &given) const {
  const auto startOf = [](const Memory &memory) {
    return reinterpret_cast<uintptr_t>(memory.data) + static_cast<uintptr_t>(memory.firstByte);
  };
  const auto endOf = [](const Memory &memory) {
    return reinterpret_cast<uintptr_t>(memory.data) + static_cast<uintptr_t>(memory.bytes);
  };
  for (size_t o = 0; o < slots.size(); ++o) {
    if (!slots[o].isWritten())
      continue;
    const Memory &output = *given.memories[o];
    for (size_t i = 0; i < slots.size(); ++i) {
      const Memory &other = *given.memories[i];
      if (i == o || startOf(other) >= endOf(output) || startOf(output) >= endOf(other)) // the usual case
        continue;
      const PlacedTensor written{output.desc, output.data}, read{other.desc, other.data};
      const bool isAllowed =
          slots[i].overwrittenBy == slots[o].index && areInPlace(written, read) &&
          (slots[o].sizeCount + slots[i].sizeCount == 0 || mayBeInPlace(*slots[o].desc, *slots[i].desc)) &&
          (slots[i].inPlace == InPlace::ElementSize || output.desc.dataType == other.desc.dataType);
      if (!isAllowed && shareBytes(written, read))
        return overlapping(slots[o], output, slots[i], other);
    }
  }
  return {};
}

Error Primitive::overlapping(const Slot &output, const Memory &written, const Slot &other, const Memory &read) const {
  const auto distance =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(written.data) - reinterpret_cast<uintptr_t>(read.data));
  const char *limit = other.overwrittenBy != output.index ? "must not overlap it"
                      : other.inPlace == InPlace::Type
                          ? "may only be at the same address with the same layout and type"
                          : "may only be at the same address with the same layout and element size";
  return invalidArguments(*output.name, " overlaps ", *other.name, ": ", textOf(written.desc), " starts ", distance,
                          " bytes after ", textOf(read.desc), "; it ", limit,
                          problem().verified().citations.overlapping);
}

/// Checks that the header in the memory is the one that a forward primitive of the same problem writes.
Result<void> Primitive::checkHeader(const BoundArguments &given) const {
  const Slot &slot = slots[headed];
  const Memory &memory = *given.memories[headed];
  const char *bytes = static_cast<const char *>(memory.data) + memory.firstByte;
  const VerifiedProblem &verified = problem().verified();
  std::string ofSizes;
  if (verified.headerAt) {
    OfSlots<const TensorDesc *> descs(verified.arguments.size());
    for (size_t i = 0; i < verified.arguments.size(); ++i)
      descs[i] = &given.memories[i]->desc;
    ofSizes = verified.headerAt(verified, {descs.data(), verified.arguments.size()});
  }
  const std::string &header = verified.headerAt ? ofSizes : *slot.header;
  if (std::equal(header.begin(), header.end(), bytes))
    return {};
  const bool isOfOther = std::equal(header.begin(), header.begin() + ArgumentInfo::headerMarkBytes, bytes);
  return invalidArguments("argument ", slot.index, " (", *slot.name, ") ",
                          isOfOther ? "was written by a forward execution of another problem"
                                    : "was not written by a forward execution of this library; execute "
                                      "forward_training with the same memory first",
                          verified.citations.foreign);
}

/// Returns true if a runtime dim of this execution is 0. One of several sources may be empty while others have
/// elements.
bool Primitive::isEmpty(const BoundArguments &given) const {
  const auto isSource = [](const Slot &slot) {
    return slot.index >= QUERN_ARG_MULTIPLE_SRC && slot.index < QUERN_ARG_MULTIPLE_SRC + static_cast<int>(maxSources);
  };
  for (size_t i = 0; i < slots.size() && sizeCount > 0; ++i)
    if (given.memories[i]->desc.hasZeroDim() && !isSource(slots[i]))
      return true;
  return false;
}

Result<void> Primitive::execute(Stream &stream, std::span<const quern_exec_arg_t> arguments,
                                const EventLinks *links) const {
  if (stream.engine.get() != problem().engine().get())
    return invalidArguments("the stream is of another engine than the primitive");
  BoundArguments given(slots.size(), sizeCount);
  QUERN_RETURN_IF_ERROR(collect(arguments, given));
  if ((!kernel && !problem().isCopy()) || isEmpty(given))
    return links ? stream.execute({}, links) : Result<void>();
  QUERN_RETURN_IF_ERROR(checkOverlap(given));
  if (headed != maxArguments)
    QUERN_RETURN_IF_ERROR(checkHeader(given));
  if (!isWanted(EventExecute))
    return run(stream, given, links);
  const WithoutCancellation whole; // verbose output and listeners reach cancellation points
  const int64_t start = nowNs();
  Result<void> done = run(stream, given, links);
  if (done)
    done = stream.wait();
  if (done)
    reportExecuted(*this, arguments, nowNs() - start);
  return done;
}

Result<void> Primitive::run(Stream &stream, const BoundArguments &given, const EventLinks *links) const {
  const size_t count = problem().verified().arguments.size();
  const Executable *executable = running();
  const bool isOfFamily = promotion && executable == kernel.get();
  Call call{executable, {given.buffers, count}};
  call.sizes = isOfFamily ? origin.familySizes.data() : sizeCount ? given.sizes : nullptr;
  call.numbers = isOfFamily && !origin.familyNumbers.empty() ? origin.familyNumbers.data() : nullptr;
  if (slots.size() > count) {
    call.scratchpad = given.buffers[count];
    call.scratchpadAllocation = given.memories[count]->allocation;
    call.scratchpadThreads = problem().scratchpadThreads();
  }
  if (stream.engine->device || (executable && !call.numbers && executable->program().isOpen()))
    return runDescribed(stream, given, call, links);
  return elsewhere < count ? runAcross(stream, given, call, links) : stream.execute(call, links);
}

/// Runs a call that needs the size and the allocation of each argument.
Result<void> Primitive::runDescribed(Stream &stream, const BoundArguments &given, Call &call,
                                     const EventLinks *links) const {
  const size_t count = call.buffers.size();
  OfSlots<bool> isScalar(count);
  OfSlots<int64_t> bytes(count);
  OfSlots<uint64_t> allocations(count);
  bool hasScalars = false;
  for (size_t i = 0; i < count; ++i) {
    isScalar[i] = given.memories[i]->desc.isHostScalar();
    bytes[i] = given.memories[i]->bytes;
    allocations[i] = given.memories[i]->allocation;
    hasScalars |= isScalar[i];
  }
  if (hasScalars)
    call.isScalar = {isScalar.data(), count};
  call.bufferBytes = bytes.data();
  call.allocations = {allocations.data(), count};
  return elsewhere < count ? runAcross(stream, given, call, links) : stream.execute(call, links);
}

/// Runs a call with one tensor on the host, which the device accesses through a copy, or on another device, which is
/// copied through the host and waited for.
Result<void> Primitive::runAcross(Stream &stream, const BoundArguments &given, const Call &onDevice,
                                  const EventLinks *links) const {
  const Slot &slot = slots[elsewhere];
  const Memory &memory = *given.memories[elsewhere];
  const bool keepsBytes = slot.isOutput && (slot.isUpdated || !isWithoutGaps(memory.desc));
  const HostBuffer host{elsewhere, memory.firstByte, memory.bytes, !slot.isOutput || keepsBytes, slot.isOutput};
  Call call = onDevice;
  call.host = &host;
  Device *const other = slot.engine->device.get();
  if (!other)
    return stream.execute(call, links);
  const auto bytes = static_cast<size_t>(memory.bytes);
  const auto between = std::make_unique<char[]>(bytes);
  QUERN_RETURN_IF_ERROR(host.isRead ? other->copy(between.get(), memory.data, bytes) : Result<void>());
  std::vector<void *> buffers(call.buffers.begin(), call.buffers.end());
  buffers[elsewhere] = between.get();
  call.buffers = buffers;
  Result<void> done = stream.execute(call, links); // the caller's event must also wait for the copy back
  Result<void> finished = stream.wait();           // all appended work uses `between`
  if (!done || !finished)
    return done ? finished : done;
  return host.isWritten ? other->copy(memory.data, between.get(), bytes) : done;
}

Result<const Executable *> Primitive::executable() const {
  if (!promotion)
    return kernel.get();
  if (const Executable *own = promotion->promoted())
    return own;
  if (isPromotable) {
    Result<void> done = Specializer::process().wait(promotion);
    return done ? Result<const Executable *>(promotion->promoted()) : done.takeError();
  }
  Result<AcquiredKernel> acquired = problem().acquire();
  return acquired ? Result<const Executable *>(promotion->keep(acquired->executable)) : acquired.takeError();
}

Result<void> Primitive::waitSpecialized() const {
  if (!promotion || promotion->promoted())
    return {};
  if (!isPromotable)
    return Error{Status::NotRequired, "the primitive keeps the kernel of its family"};
  return Specializer::process().wait(promotion);
}

quern_primitive_info_t Primitive::info() const {
  const VerifiedProblem &verified = problem().verified();
  const Executable *current = running();
  quern_primitive_info_t info{};
  info.origin = origin.origin;
  info.create_ns = createNs;
  info.compile_ns = origin.compileNs;
  info.load_ns = origin.loadNs;
  info.implementation = verified.implementation.c_str();
  info.plan = current ? current->plan().c_str() : "";
  info.target = current ? current->target().c_str() : "";
  info.key = current ? current->key().c_str() : "";
  info.pack = origin.pack ? origin.pack->c_str() : "";
  info.is_family = promotion && current == kernel.get();
  info.linker = current ? current->linkerName() : "none";
  info.code_bytes = current ? static_cast<int64_t>(current->codeBytes()) : 0;
  info.scratch_bytes = current ? current->scratch().perThread : 0;
  info.shared_bytes = current ? current->scratch().shared : 0;
  return info;
}

} // namespace quern
