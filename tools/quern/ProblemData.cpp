//===- ProblemData.cpp - The buffers of one problem -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See ProblemData.h.
//
//===----------------------------------------------------------------------===//
#include "ProblemData.h"

#include "Primitives/Elements.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace quern {
namespace {

constexpr int64_t guardBytes = 256;
constexpr char canary = '\xa5', prefill = '\xff';

int64_t elementBytes(const TensorDesc &desc) { return std::max<int64_t>(bitsOf(desc.dataType) / 8, 1); }

/// Asking for more would not fail but drive the machine into swapping.
Result<void> checkMemory(const VerifiedProblem &verified) {
  double needed = 0, present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  for (const ArgumentInfo &info : verified.arguments)
    needed += static_cast<double>(std::max<int64_t>(info.desc.bytes(), 0));
  if (needed <= present)
    return {};
  return Error{Status::OutOfMemory, concat("the tensors need ", needed / 0x1p30, " GiB; this machine has ", present / 0x1p30)};
}

} // namespace

GuardedBuffer::GuardedBuffer(int64_t bytes, int64_t misalignment) : bytes(bytes) {
  storage.assign(static_cast<size_t>(2 * guardBytes + 64 + misalignment + bytes), canary);
  int64_t address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(storage.data()));
  start = (address + guardBytes + 63) / 64 * 64 - address + misalignment;
  fillAll(static_cast<unsigned char>(prefill));
}

bool GuardedBuffer::guardsIntact() const {
  auto isCanary = [](char c) { return c == canary; };
  return std::all_of(storage.begin(), storage.begin() + start, isCanary) &&
         std::all_of(storage.begin() + start + bytes, storage.end(), isCanary);
}

void GuardedBuffer::fillAll(unsigned char value) { std::memset(data(), value, static_cast<size_t>(bytes)); }

Result<ProblemData> ProblemData::create(const Problem &problem, const DataOptions &options) {
  if (Result<void> fits = checkMemory(problem.verified); !fits)
    return fits.takeError();
  ProblemData data;
  data.problem = &problem;
  data.options = options;
  const TensorDesc *shared = nullptr;
  for (const ArgumentInfo &info : problem.verified.arguments) {
    if (info.desc.bytes() < 0)
      return unimplemented("the size of ", info.name, " is known only at execution");
    bool sharesBuffer = options.inPlace && info.isOutput;
    if (sharesBuffer && (!shared || !(*shared == info.desc)))
      return invalidArguments("in place needs the same type and layout on both sides; ", info.name, " differs");
    data.slots.push_back({info, sharesBuffer ? 0 : data.storage.size()});
    if (!sharesBuffer)
      data.storage.emplace_back(info.desc.bytes(), options.misalignment * elementBytes(info.desc));
    if (!info.isOutput && !shared)
      shared = &info.desc;
  }
  data.refill();
  return data;
}

std::map<int32_t, void *> ProblemData::buffers() {
  std::map<int32_t, void *> result;
  for (const Slot &slot : slots)
    result[slot.info.index] = storage[slot.buffer].data();
  return result;
}

void *ProblemData::buffer(int32_t argument) {
  for (const Slot &slot : slots)
    if (slot.info.index == argument)
      return storage[slot.buffer].data();
  return nullptr;
}

const TensorDesc *ProblemData::descOf(int32_t argument) const {
  for (const Slot &slot : slots)
    if (slot.info.index == argument)
      return &slot.info.desc;
  return nullptr;
}

void ProblemData::refill() {
  for (GuardedBuffer &buffer : storage)
    buffer.fillAll(static_cast<unsigned char>(prefill));
  for (const Slot &slot : slots)
    if (!slot.info.isOutput)
      fillInput(problem->desc(), slot.info.index, slot.info.desc, options.fill, options.seed, storage[slot.buffer].data());
}

Result<void> ProblemData::computeExpected() {
  ReferenceInputs inputs;
  for (const Slot &slot : slots)
    if (!slot.info.isOutput)
      inputs[slot.info.index] = storage[slot.buffer].data();
  Result<std::vector<ReferenceOutput>> outputs = computeReference(problem->desc(), inputs);
  if (!outputs)
    return outputs.takeError();
  expected = std::move(*outputs);
  return {};
}

Verdict ProblemData::judgeOutputs() const {
  Verdict worst;
  for (const ReferenceOutput &output : expected) {
    auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot &s) { return s.info.index == output.argument; });
    if (slot == slots.end())
      continue;
    Verdict verdict = judge(problem->desc(), output, storage[slot->buffer].data(), judgedAs(options.fill));
    if (worst.position < 0 || verdict.worst > worst.worst)
      worst = verdict;
  }
  return worst;
}

bool ProblemData::gapsIntact(const Slot &slot) const {
  const GuardedBuffer &buffer = storage[slot.buffer];
  int64_t size = elementBytes(slot.info.desc);
  std::vector<bool> isElement(static_cast<size_t>(buffer.size() / size));
  forEachElement(slot.info.desc, [&](int64_t, int64_t offset) { isElement[static_cast<size_t>(offset)] = true; });
  for (size_t i = 0; i < isElement.size(); ++i)
    for (int64_t byte = 0; !isElement[i] && byte < size; ++byte)
      if (buffer.data()[static_cast<int64_t>(i) * size + byte] != prefill)
        return false;
  return true;
}

std::string ProblemData::strayWrites() const {
  for (const Slot &slot : slots) {
    if (!storage[slot.buffer].guardsIntact())
      return concat("bytes beside the buffer of ", slot.info.name, " were overwritten");
    if (slot.info.isOutput && !slot.info.desc.hasPadding() && !gapsIntact(slot))
      return concat("a gap between the elements of ", slot.info.name, " was overwritten");
  }
  return {};
}

std::string ProblemData::outputBytes() const {
  std::string bytes;
  for (const Slot &slot : slots)
    if (slot.info.isOutput)
      bytes.append(storage[slot.buffer].data(), static_cast<size_t>(storage[slot.buffer].size()));
  return bytes;
}

} // namespace quern
