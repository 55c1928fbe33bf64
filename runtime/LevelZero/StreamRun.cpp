//===- StreamRun.cpp - Commands of an execution ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Launch/ProgramRun.h"
#include "Launch/Steps.h"
#include "LevelZero/Stream.h"

#include <algorithm>
#include <cstring>

namespace quern::ze {
namespace {

/// Maximum number of recorded programs of a stream.
constexpr size_t maxRecordings = 16;
/// Maximum number of scalars of pending executions.
constexpr size_t maxScalars = 512;

bool isScalarAt(const Call &call, size_t position) { return !call.isScalar.empty() && call.isScalar[position]; }
bool hasScalars(const Call &call) {
  return std::find(call.isScalar.begin(), call.isScalar.end(), true) != call.isScalar.end();
}

/// Returns the executable of a call, which is loaded for this device.
const DeviceExecutable &executableOf(const Call &call) {
  return static_cast<const DeviceExecutable &>(*call.executable);
}

size_t sizeCountOf(const Program &program) { return program.sizeCount() + program.derivedSizeCount(); }

} // namespace

Result<void> Stream::execute(const Call &call, const quern::EventLinks *links) {
  std::lock_guard lock(mutex);
  const auto *own = static_cast<const EventLinks *>(links);
  if (!own)
    return run(call, false);
  QUERN_RETURN_IF_ERROR(waitFor(own->waits));
  QUERN_RETURN_IF_ERROR(run(call, false));
  return own->signal ? signal(own->signal) : Result<void>();
}

Result<void> Stream::run(const Call &call, bool isPart) {
  if (call.host)
    return runWithHost(call);
  if (!call.executable)
    return {};
  return call.executable->program().isPlain() ? runPlain(call, isPart) : runProgram(call, isPart);
}

/// Makes later commands wait for events.
Result<void> Stream::waitFor(std::span<const ze_event_handle_t> waits) {
  if (waits.empty())
    return {};
  QUERN_RETURN_IF_ERROR(goToList(isInOrder));
  // The interface takes a pointer to non-const handles.
  std::vector<ze_event_handle_t> handles(waits.begin(), waits.end());
  QUERN_ZE_TRY(zeCommandListAppendWaitOnEvents, list, static_cast<uint32_t>(handles.size()), handles.data());
  return {};
}

Result<void> Stream::signal(ze_event_handle_t *event) {
  if (returned.size() == maxReturned()) {
    QUERN_RETURN_IF_ERROR(finishLocked());
    events.give(returned.front());
    returned.pop_front();
  }
  QUERN_ASSIGN_OR_RETURN(ze_event_handle_t taken, events.take());
  Result<void> done = goToList(false);
  if (done)
    if (const ze_result_t result = api().zeCommandListAppendBarrier(list, taken, 0, nullptr))
      done = errorOf(result, "zeCommandListAppendBarrier");
  if (!done) {
    events.give(taken);
    return done;
  }
  returned.push_back(taken);
  *event = taken;
  return {};
}

void Stream::keep(const DeviceExecutable &executable) {
  const auto isIt = [&](const std::shared_ptr<const DeviceExecutable> &kept) { return kept.get() == &executable; };
  if (std::none_of(inFlight.rbegin(), inFlight.rend(), isIt))
    inFlight.push_back(executable.shared_from_this());
}

/// Returns memory of at least `bytes` bytes. Smaller memory is freed once nothing runs.
Result<void *> Stream::grow(Grown &kept, int64_t bytes) {
  if (bytes <= kept.bytes)
    return kept.memory;
  QUERN_ASSIGN_OR_RETURN(void *made, owner->allocate(bytes));
  if (kept.memory)
    retiredMemory.push_back(kept.memory);
  kept = {made, bytes, newAllocation()};
  return kept.memory;
}

/// Returns the memory for shared scratch and regions; null for 0 bytes.
Result<void *> Stream::scratchOf(const Call &call, int64_t bytes) {
  if (bytes == 0)
    return nullptr;
  if (call.scratchpad)
    return scratchpadShared(call.scratchpad);
  return grow(scratch, bytes);
}

/// Copies scalars to memory that the device can read until the stream has been waited for.
Result<void> Stream::placeScalars(const Call &call, std::vector<void *> &buffers) {
  if (!scalars) {
    QUERN_ASSIGN_OR_RETURN(void *made, owner->allocateOnHost(maxScalars * sizeof(uint64_t)));
    scalars = static_cast<uint64_t *>(made);
  }
  if (scalarCount + buffers.size() > maxScalars)
    QUERN_RETURN_IF_ERROR(finishLocked());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (isScalarAt(call, i)) {
      std::memcpy(&scalars[scalarCount], call.buffers[i], sizeof(uint64_t));
      buffers[i] = &scalars[scalarCount++];
    }
  return {};
}

/// Like placeScalars(), for a recording, which keeps the memory.
Result<std::shared_ptr<void>> Stream::copyScalars(const Call &call, std::vector<void *> &buffers) const {
  QUERN_ASSIGN_OR_RETURN(void *made, owner->allocateOnHost(static_cast<int64_t>(buffers.size() * sizeof(uint64_t))));
  std::shared_ptr<void> kept(made, [device = owner](void *memory) { device->freeUnused(memory); });
  for (size_t i = 0; i < buffers.size(); ++i)
    if (isScalarAt(call, i))
      buffers[i] = std::memcpy(static_cast<uint64_t *>(made) + i, call.buffers[i], sizeof(uint64_t));
  return kept;
}

Result<void> Stream::copyOnList(void *to, const void *from, const HostBuffer &range) {
  QUERN_RETURN_IF_ERROR(goToList(isInOrder || staging.memory));
  QUERN_ZE_TRY(zeCommandListAppendMemoryCopy, list, static_cast<char *>(to) + range.first,
               static_cast<const char *>(from) + range.first, static_cast<size_t>(range.bytes - range.first), nullptr,
               0, nullptr);
  return {};
}

/// Runs a call with a host buffer, which is copied to memory that the stream keeps, and back. These executions never
/// overlap.
Result<void> Stream::runWithHost(const Call &call) {
  const HostBuffer &host = *call.host;
  std::vector<void *> buffers(call.buffers.begin(), call.buffers.end());
  std::vector<uint64_t> allocations(call.allocations.begin(), call.allocations.end());
  void *const own = buffers[host.position];
  Call inner = call;
  inner.host = nullptr;
  inner.buffers = buffers;
  inner.allocations = allocations;
  const auto body = [&]() -> Result<void> {
    if (!call.executable)
      return copyOnList(buffers[1], buffers[0], host);
    QUERN_ASSIGN_OR_RETURN(void *copy, grow(staging, host.bytes));
    buffers[host.position] = copy;
    allocations[host.position] = staging.allocation;
    QUERN_RETURN_IF_ERROR(host.isRead ? copyOnList(copy, own, host) : Result<void>());
    if (Result<void> done = run(inner, true); !done || !host.isWritten)
      return done;
    return copyOnList(own, copy, host);
  };
  return isProfiling ? between(true, body) : body();
}

Result<void> Stream::runPlain(const Call &call, bool isPart) {
  const DeviceExecutable &executable = executableOf(call);
  const KernelStep &step = executable.steps()[0];
  const int64_t groups = iterationsOf(step, call.sizes);
  if (groups < 0)
    return unimplemented("a launch step has more than ", INT64_MAX, " iterations");
  if (groups == 0)
    return {};
  QUERN_ASSIGN_OR_RETURN(void *shared, scratchOf(call, executable.scratch().shared));
  void *const *buffers = call.buffers.data();
  std::vector<void *> copied;
  if (hasScalars(call)) {
    copied.assign(call.buffers.begin(), call.buffers.end());
    QUERN_RETURN_IF_ERROR(placeScalars(call, copied));
    buffers = copied.data();
  }
  void *named[maxStepBuffers];
  const DeviceExecutable::Arguments arguments{plainBuffersOf(step, buffers, named),
                                              step.buffers.empty() ? call.buffers.size() : step.buffers.size(), shared,
                                              call.sizes};
  const bool isTimed = isProfiling && !isPart;
  QUERN_ASSIGN_OR_RETURN(ze_event_handle_t timing, isTimed ? timedEvents.take() : Result<ze_event_handle_t>(nullptr));
  Result<void> done = goToList(isInOrder || shared || isPart);
  if (done)
    done = executable.appendLaunch(list, step, arguments, groups, timing);
  if (done)
    keep(executable);
  if (done && isTimed)
    timings.push_back({timing, timing});
  else if (isTimed)
    timedEvents.give(timing);
  return done;
}

/// Returns the open sizes and those that are derived from tensors. Waits until these have been written.
Result<std::vector<int64_t>> Stream::deriveSizes(const Call &call) {
  const Program &program = call.executable->program();
  QUERN_RETURN_IF_ERROR(program.derivedSizeCount() ? finishLocked() : Result<void>());
  std::vector<void *> onHost(call.buffers.begin(), call.buffers.end());
  std::vector<std::unique_ptr<char[]>> copies;
  for (const DerivedSize &derived : program.derivedSizes()) {
    if (derived.kind == DerivedSize::Kind::Computed || isScalarAt(call, derived.argument))
      continue;
    const int64_t known = call.executable->arguments()[derived.argument].bytes;
    const int64_t bytes = known > 0 || !call.bufferBytes ? known : call.bufferBytes[derived.argument];
    copies.push_back(std::make_unique<char[]>(static_cast<size_t>(bytes)));
    if (Result<void> copied =
            owner->copy(copies.back().get(), call.buffers[derived.argument], static_cast<size_t>(bytes));
        !copied)
      return copied.takeError();
    onHost[derived.argument] = copies.back().get();
  }
  std::vector<int64_t> sizes(sizeCountOf(program));
  QUERN_RETURN_IF_ERROR(program.deriveSizes(onHost.data(), call.sizes, sizes.data()));
  return sizes;
}

Stream::Recorded Stream::recordedOf(const Call &call, size_t position) {
  if (!isScalarAt(call, position))
    return {reinterpret_cast<uint64_t>(call.buffers[position]), call.allocations[position]};
  Recorded scalar;
  std::memcpy(&scalar.value, call.buffers[position], sizeof scalar.value);
  return scalar;
}

Stream::Recorded Stream::scratchFor(const Call &call) const {
  if (call.scratchpad)
    return {reinterpret_cast<uint64_t>(call.scratchpad), call.scratchpadAllocation};
  return {reinterpret_cast<uint64_t>(scratch.memory), scratch.allocation};
}

bool Stream::serves(const Recording &recording, const Call &call, const int64_t *sizes) const {
  if (recording.executable.get() != call.executable ||
      (recording.scratch != Recorded() && recording.scratch != scratchFor(call)))
    return false;
  for (size_t i = 0; i < call.buffers.size(); ++i)
    if (recording.buffers[i] != recordedOf(call, i))
      return false;
  return std::equal(recording.sizes.begin(), recording.sizes.end(), sizes);
}

Stream::Recording Stream::describe(const Call &call, const int64_t *sizes) const {
  Recording recording;
  recording.executable = executableOf(call).shared_from_this();
  for (size_t i = 0; i < call.buffers.size(); ++i)
    recording.buffers.push_back(recordedOf(call, i));
  recording.sizes.assign(sizes, sizes + sizeCountOf(call.executable->program()));
  return recording;
}

Result<void> Stream::runProgram(const Call &call, bool isPart) {
  const Program &program = call.executable->program();
  std::vector<int64_t> derived, numbers;
  const int64_t *sizes = call.sizes, *bound = program.fixedNumbers();
  if (program.derivedSizeCount() || program.checksSizes()) {
    QUERN_ASSIGN_OR_RETURN(derived, deriveSizes(call));
    sizes = derived.data();
  }
  const auto known =
      std::find_if(recordings.begin(), recordings.end(), [&](const Recording &r) { return serves(r, call, sizes); });
  if (known != recordings.end()) {
    recordings.splice(recordings.begin(), recordings, known);
    return replay(recordings.front());
  }
  if (!bound) {
    numbers.resize(program.numberCount());
    QUERN_RETURN_IF_ERROR(program.bind(sizes, call.bufferBytes, numbers.data()));
    bound = numbers.data();
  }
  const Result<int64_t> bytes = call.executable->sharedBytes(program.regionsEnd(bound));
  if (!bytes)
    return bytes.error();
  QUERN_ASSIGN_OR_RETURN(void *shared, scratchOf(call, *bytes));
  std::vector<void *> buffers(call.buffers.begin(), call.buffers.end());
  const Run run{executableOf(call), buffers.data(), sizes, bound, shared};
  if (isProfiling || isLent) {
    if (hasScalars(call))
      QUERN_RETURN_IF_ERROR(placeScalars(call, buffers));
    return runDirectly(run, isProfiling && !isPart);
  }
  Recording recording = describe(call, sizes);
  if (shared)
    recording.scratch = scratchFor(call);
  if (hasScalars(call)) {
    QUERN_ASSIGN_OR_RETURN(recording.scalars, copyScalars(call, buffers));
  }
  return record(run, std::move(recording));
}

Result<void> Stream::record(const Run &run, Recording recording) {
  QUERN_RETURN_IF_ERROR(openQueue());
  QUERN_ASSIGN_OR_RETURN(recording.list, owner->makeList());
  // Orders the recording after earlier work of the queue.
  QUERN_ZE_TRY(zeCommandListAppendBarrier, recording.list.get(), nullptr, 0, nullptr);
  QUERN_RETURN_IF_ERROR(appendProgram(run, recording.list.get()));
  QUERN_ZE_TRY(zeCommandListClose, recording.list.get());
  recordings.push_front(std::move(recording));
  if (recordings.size() > maxRecordings) {
    retired.push_back(std::move(recordings.back()));
    recordings.pop_back();
  }
  return replay(recordings.front());
}

Result<void> Stream::replay(const Recording &recording) {
  QUERN_RETURN_IF_ERROR(goToQueue());
  ze_command_list_handle_t handle = recording.list.get();
  QUERN_ZE_TRY(zeCommandQueueExecuteCommandLists, queue.get(), 1, &handle, nullptr);
  return {};
}

Result<void> Stream::runDirectly(const Run &run, bool isTimed) {
  keep(run.executable);
  return between(isTimed, [&] { return appendProgram(run, list); });
}

/// Appends `body` to the immediate list after all earlier work, with one timing for all of it.
Result<void> Stream::between(bool isTimed, const std::function<Result<void>()> &body) {
  Timing timing{};
  if (isTimed) {
    for (ze_event_handle_t *event : {&timing.start, &timing.end}) {
      Result<ze_event_handle_t> taken = timedEvents.take();
      if (!taken) {
        if (timing.start)
          timedEvents.give(timing.start);
        return taken.takeError();
      }
      *event = *taken;
    }
  }
  const auto append = [&]() -> Result<void> {
    QUERN_RETURN_IF_ERROR(goToList(true));
    QUERN_ZE_TRY(zeCommandListAppendBarrier, list, timing.start, 0, nullptr);
    QUERN_RETURN_IF_ERROR(body());
    QUERN_ZE_TRY(zeCommandListAppendBarrier, list, timing.end, 0, nullptr);
    return {};
  };
  Result<void> done = append();
  if (isTimed && done)
    timings.push_back(timing);
  else if (isTimed) {
    (void)finishLocked(); // one of the events may still be signaled
    timedEvents.give(timing.start);
    timedEvents.give(timing.end);
  }
  return done;
}

/// Appends the groups of steps with barriers between them. The caller has appended a barrier before them.
Result<void> Stream::appendProgram(const Run &run, ze_command_list_handle_t to) const {
  const Program &program = run.executable.program();
  char *regions = static_cast<char *>(run.shared) + (run.shared ? run.executable.regionsStart() : 0);
  const ProgramRun walk{program, run.bound, run.buffers, run.sizes, run.shared, regions};
  bool needsBarrier = false;
  for (ProgramCursor cursor(program, run.bound); cursor.next();) {
    const Program::StepGroup &group = program.group(cursor.group());
    bool isFirst = true; // true until a step of the group is appended
    for (uint32_t i = 0; i < group.stepCount; ++i) {
      const Program::BoundStep &step = program.step(group.firstStep + i);
      const int64_t groups = run.bound[step.iterations];
      if (groups <= 0)
        continue;
      if (isFirst && needsBarrier)
        QUERN_ZE_TRY(zeCommandListAppendBarrier, to, nullptr, 0, nullptr);
      isFirst = false;
      needsBarrier = true;
      void *named[maxStepBuffers];
      const size_t count = step.call->buffers.empty() ? run.executable.arguments().size() : step.call->buffers.size();
      const DeviceExecutable::Arguments arguments{walk.buffersOf(step, cursor.indices(), named), count, run.shared,
                                                  run.sizes};
      QUERN_RETURN_IF_ERROR(run.executable.appendLaunch(to, *step.call, arguments, groups, nullptr));
    }
  }
  return {};
}

} // namespace quern::ze
