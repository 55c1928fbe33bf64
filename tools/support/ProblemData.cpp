//===- ProblemData.cpp - The buffers of one problem -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ProblemData.h"

#include "Reference/Elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unistd.h>

namespace quern {
namespace {

constexpr char prefill = '\xff';

int64_t elementBytes(const TensorDesc &desc) { return std::max<int64_t>(bitsOf(desc.dataType) / 8, 1); }

/// Returns true if all bytes of `count` >= 1 elements are `byte`.
bool areFilledWith(char byte, const TensorDesc &desc, const char *data, size_t first, size_t count) {
  if (bitsOf(desc.dataType) == 4) {
    size_t i = first;
    while (i < first + count && ((data[i / 2] ^ byte) >> i % 2 * 4 & 15) == 0)
      ++i;
    return i == first + count;
  }
  auto size = static_cast<size_t>(elementBytes(desc));
  const char *start = data + first * size;
  return *start == byte && std::memcmp(start, start + 1, count * size - 1) == 0;
}

bool areUnchanged(const TensorDesc &desc, const char *before, const char *data, size_t first, size_t count) {
  if (bitsOf(desc.dataType) == 4) {
    size_t i = first;
    while (i < first + count && ((data[i / 2] ^ before[i / 2]) >> i % 2 * 4 & 15) == 0)
      ++i;
    return i == first + count;
  }
  auto size = static_cast<size_t>(elementBytes(desc));
  return std::memcmp(data + first * size, before + first * size, count * size) == 0;
}

/// Fails if the tensors exceed the machine's memory. Their allocation would not fail, but the machine would swap.
Result<void> checkMemory(const VerifiedProblem &verified) {
  double needed = 0,
         present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  for (const ArgumentInfo &info : verified.arguments)
    needed += static_cast<double>(std::max<int64_t>(info.desc.bytes(), 0));
  if (needed <= present)
    return {};
  return Error{Status::OutOfMemory,
               concat("the tensors need ", needed / 0x1p30, " GiB; this machine has ", present / 0x1p30)};
}

} // namespace

/// Returns true if an argument shares the buffer of an input: in place, every output except the mask of dropout.
bool ProblemData::liesOnInput(const ArgumentInfo &info) const {
  return options.inPlace && info.isOutput && info.index != arg::dropoutMask;
}

Placement ProblemData::placementOf(const TensorDesc &desc) const {
  return {options.guarded, options.isTimed ? 64 : elementBytes(desc), options.misalignment * elementBytes(desc)};
}

/// A scratchpad may have any address. If the page at its end is guarded, it starts at the worst one: one byte past a
/// multiple of 64.
Placement ProblemData::scratchpadPlacement() const {
  return options.guarded == GuardedSide::End ? Placement{GuardedSide::End, 1, 1} : Placement{GuardedSide::Beginning};
}

Result<ProblemData> ProblemData::create(const ParsedProblem &problem, const DataOptions &options) {
  QUERN_RETURN_IF_ERROR(checkMemory(problem.verified));
  ProblemData data;
  data.problem = &problem;
  data.options = options;
  for (const ArgumentInfo &info : problem.verified.arguments) {
    if (info.desc.bytes() < 0)
      return unimplemented("the size of ", info.name, " is known only at execution; give it (--sizes)");
    size_t buffer = data.storage.size();
    if (data.liesOnInput(info)) {
      auto partner = std::find_if(data.slots.begin(), data.slots.end(), [&](const Slot &slot) {
        bool isSource = slot.info.index >= arg::multipleSrc &&
                        slot.info.index < arg::multipleSrc + static_cast<int32_t>(maxSources);
        if (isSource) // the first that fits, if there are several
          return slot.info.desc == info.desc;
        return slot.info.index == (info.index == QUERN_ARG_DST ? QUERN_ARG_SRC : QUERN_ARG_DIFF_DST);
      });
      if (partner == data.slots.end() || !(partner->info.desc == info.desc))
        return invalidArguments("in place needs the same type and layout on both sides; ", info.name, " differs");
      buffer = partner->buffer;
    }
    data.slots.push_back({info, buffer, info.isOutput ? straysOf(info.desc) : std::vector<Run>()});
    if (buffer == data.storage.size())
      data.storage.emplace_back(info.desc.bytes(), data.placementOf(info.desc));
  }
  for (const Slot &slot : data.slots)
    if (slot.isRead() && !data.liesOnInput(slot.info))
      fillInput(problem.desc(), slot.info.index, slot.info.desc, options.fill, options.seed,
                data.storage[slot.buffer].data());
  QUERN_RETURN_IF_ERROR(data.fillNumbers());
  data.keepInputs();
  return data;
}

/// Sets the numbers on which sizes and offsets depend; they are not random.
Result<void> ProblemData::fillNumbers() {
  const auto *mlir = std::get_if<MlirDesc>(&problem->desc().op);
  const auto numbers = mlir ? MlirNumber::parse(mlir->numbers) : std::nullopt;
  for (const MlirNumber &number : numbers ? *numbers : std::vector<MlirNumber>()) {
    const Slot &slot = slots[number.argument];
    if (!number.value && std::ranges::find(options.given, slot.info.name) == options.given.end())
      return unimplemented("the number ", slot.info.name, " is known only at execution; give it (--sizes)");
    const int32_t value = number.value.value_or(0);
    std::memcpy(storage[slot.buffer].data(), &value, sizeof value);
  }
  return {};
}

/// Returns the problem with the numbers of this execution.
PrimitiveDesc ProblemData::withNumbers() const {
  PrimitiveDesc desc = problem->desc();
  auto &mlir = std::get<MlirDesc>(desc.op);
  std::vector<MlirNumber> numbers = MlirNumber::parse(mlir.numbers).value_or(std::vector<MlirNumber>());
  for (MlirNumber &number : numbers) {
    int32_t value = 0;
    std::memcpy(&value, storage[slots[number.argument].buffer].data(), sizeof value);
    number.value = value;
  }
  mlir.numbers = MlirNumber::textOf(numbers);
  return desc;
}

std::map<int32_t, BoundBuffer> ProblemData::buffers() {
  std::map<int32_t, BoundBuffer> result;
  for (const Slot &slot : slots)
    result[slot.info.index] = {&slot.info.desc, storage[slot.buffer].data()};
  if (scratchpad)
    result[QUERN_ARG_SCRATCHPAD] = {&scratchpadDesc, scratchpad->data()};
  return result;
}

void ProblemData::moveTo(GuardedSide side) {
  if (side == options.guarded)
    return;
  options.guarded = side;
  for (const Slot &slot : slots) { // twice if two share a buffer, which is harmless and rare
    GuardedBuffer &buffer = storage[slot.buffer];
    GuardedBuffer moved(buffer.size(), placementOf(slot.info.desc));
    std::memcpy(moved.data(), buffer.data(), static_cast<size_t>(buffer.size()));
    buffer = std::move(moved);
  }
  if (scratchpad)
    scratchpad.emplace(scratchpad->size(), scratchpadPlacement());
}

std::map<int32_t, void *> ProblemData::addresses() {
  std::map<int32_t, void *> result;
  for (const Slot &slot : slots)
    result[slot.info.index] = storage[slot.buffer].data();
  return result;
}

Result<void> ProblemData::addScratchpad(const Kernel &kernel) {
  QUERN_ASSIGN_OR_RETURN(int64_t bytes, kernel.scratchpadBytes());
  scratchpad.reset();
  if (bytes == 0)
    return {};
  QUERN_ASSIGN_OR_RETURN(TensorDesc desc, TensorDesc::dense(std::array{bytes}, DataType::U8));
  scratchpadDesc = desc;
  scratchpad.emplace(bytes, scratchpadPlacement());
  return {};
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

const ArgumentInfo *ProblemData::find(std::string_view name) const {
  for (const Slot &slot : slots)
    if (slot.info.name == name)
      return &slot.info;
  return nullptr;
}

void ProblemData::keepInputs() {
  kept.assign(storage.size(), {});
  for (const Slot &slot : slots)
    if (const GuardedBuffer &buffer = storage[slot.buffer]; slot.isRead())
      kept[slot.buffer].assign(buffer.data(), static_cast<size_t>(buffer.size()));
}

void ProblemData::refill() {
  for (size_t i = 0; i < storage.size(); ++i) {
    if (kept[i].empty())
      storage[i].fillAll(static_cast<unsigned char>(prefill));
    else
      std::memcpy(storage[i].data(), kept[i].data(), kept[i].size());
  }
  if (scratchpad)
    scratchpad->fillAll(static_cast<unsigned char>(prefill));
}

Result<void> ProblemData::computeExpected() {
  ReferenceInputs inputs;
  for (const Slot &slot : slots)
    if (slot.isRead())
      inputs[slot.info.index] = storage[slot.buffer].data();
  if (problem->desc().kind() == PrimitiveKind::Mlir)
    return computeOracle();
  QUERN_ASSIGN_OR_RETURN(expected, computeReference(problem->desc(), inputs));
  return {};
}

namespace {

/// Returns true if the function rounds to few values or branches, so an error may be large or zero.
bool hasJumps(const std::string &code) {
  constexpr std::string_view jumps[] = {"arith.truncf", "arith.fpto", "arith.cmpf", "math.floor",
                                        "math.ceil",    "math.round", "math.trunc", "math.copysign"};
  return std::any_of(std::begin(jumps), std::end(jumps),
                     [&](std::string_view word) { return code.find(word) != std::string::npos; });
}

/// Returns the tolerance of each element. The oracle's error bounds are sums of worst cases, which consecutive
/// operations do not reach. `worst` is the largest error of the function's own arithmetic in naive loops, relative to
/// the bound; with enough elements, the tolerance is at most 16 times this share of the bound.
std::vector<double> tolerances(const std::vector<double> &exact, const std::vector<double> &inherited,
                               const std::vector<double> &variance, const std::vector<double> &simple, bool jumps) {
  constexpr size_t minElements = 64;
  std::vector<double> bounds(exact.size());
  double worst = 0;
  size_t count = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    bounds[i] = oracleMargin * (inherited[i] + std::sqrt(variance[i]));
    if (!(bounds[i] > 0) || !std::isfinite(bounds[i]) || !std::isfinite(exact[i]))
      continue;
    worst = std::max(worst, std::fabs(simple[i] - exact[i]) / bounds[i]);
    ++count;
  }
  if (jumps || count < minElements || !(16 * worst < 1))
    return bounds;
  for (size_t i = 0; i < exact.size(); ++i) // plus several roundings of the result itself
    bounds[i] = std::max(16 * worst * bounds[i], std::min(bounds[i], 16 * 0x1p-24 * std::fabs(exact[i])));
  return bounds;
}

PossibleValues valuesWithin(const std::vector<double> &exact, const std::vector<double> &tolerance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  PossibleValues values{exact, exact, exact};
  for (size_t i = 0; i < exact.size(); ++i) {
    if (tolerance[i] == 0)
      continue;
    const bool isBounded = std::isfinite(tolerance[i]) && std::isfinite(exact[i]);
    values.low[i] = isBounded ? exact[i] - tolerance[i] : -infinity;
    values.high[i] = isBounded ? exact[i] + tolerance[i] : infinity;
  }
  return values;
}

} // namespace

/// Runs an oracle of the function on copies of the buffers and returns them, followed by two buffers of errors for each
/// output if `hasErrors`.
Result<std::vector<ProblemData::OracleBuffer>> ProblemData::runOracle(bool hasErrors) const {
  Result<Device> cpu = Device::open(quern_cpu);
  Result<Kernel> kernel =
      cpu ? Kernel::create(*cpu, oracleOf(withNumbers(), hasErrors)) : Result<Kernel>(cpu.takeError());
  if (!kernel)
    return kernel.takeError();
  std::vector<OracleBuffer> buffers;
  int32_t sources = arg::multipleSrc;
  for (const Slot &slot : slots) {
    const GuardedBuffer &buffer = storage[slot.buffer];
    buffers.push_back({slot.info.index, slot.info.desc, {buffer.data(), static_cast<size_t>(buffer.size())}});
    sources += slot.info.index < arg::multipleDst;
  }
  for (const Slot &slot : slots)
    for (int i = 0; hasErrors && slot.info.isOutput && i < 2; ++i) {
      TensorDesc errors = slot.info.desc;
      errors.dataType = DataType::F64;
      buffers.push_back({sources++, errors, std::string(static_cast<size_t>(errors.bytes()), '\0')});
    }
  std::map<int32_t, BoundBuffer> bound;
  for (OracleBuffer &buffer : buffers)
    bound[buffer.argument] = {&buffer.desc, buffer.bytes.data()};
  QUERN_RETURN_IF_ERROR(kernel->bind(bound));
  QUERN_RETURN_IF_ERROR(kernel->execute());
  return buffers;
}

/// A caller's function has no reference. The expected result is that of its naive lowering, within its error bounds.
Result<void> ProblemData::computeOracle() {
  Result<std::vector<OracleBuffer>> oracle = runOracle(true), simple = runOracle(false);
  if (!oracle || !simple)
    return oracle ? simple.takeError() : oracle.takeError();
  auto valuesOf = [](const OracleBuffer &buffer) { return gather(buffer.desc, buffer.bytes.data()); };
  expected.clear();
  for (size_t i = 0, error = slots.size(); i < slots.size(); ++i)
    if (const ArgumentInfo &info = slots[i].info; info.isOutput) {
      ReferenceOutput output{info.index, info.desc, valuesOf((*oracle)[i])};
      PossibleValues values = valuesWithin(
          output.exact, tolerances(output.exact, valuesOf((*oracle)[error]), valuesOf((*oracle)[error + 1]),
                                   valuesOf((*simple)[i]), hasJumps(std::get<MlirDesc>(problem->desc().op).code)));
      output.possibleOf = [values = std::move(values)](const ReferenceInputs &) { return values; };
      expected.push_back(std::move(output));
      error += 2;
    }
  return {};
}

Verdict ProblemData::judgeOutputs(const ReferenceOutput **judged) const {
  Verdict worst;
  ReferenceInputs results;
  for (const Slot &slot : slots)
    if (slot.info.isOutput)
      results[slot.info.index] = storage[slot.buffer].data();
  for (const ReferenceOutput &output : expected) {
    if (problem->verified.isNoop) // nothing is written
      break;
    auto slot =
        std::find_if(slots.begin(), slots.end(), [&](const Slot &s) { return s.info.index == output.argument; });
    if (slot == slots.end())
      continue;
    Verdict verdict = judge(problem->desc(), output, results, judgedAs(options.fill));
    if (worst.position >= 0 && verdict.worst <= worst.worst)
      continue;
    worst = verdict;
    if (judged)
      *judged = &output;
  }
  return worst;
}

std::vector<ProblemData::Place> ProblemData::placesOf(const TensorDesc &desc) {
  bool isPacked = bitsOf(desc.dataType) == 4;
  std::vector<Place> places(static_cast<size_t>(isPacked ? desc.bytes() * 2 : desc.bytes() / elementBytes(desc)),
                            Place::Gap);
  if (desc.hasZeroDim()) // nothing is stored, not even padding
    return places;
  if (isPacked) // the other half of the last byte
    places.back() = Place::Padding;
  if (desc.hasPadding()) {
    TensorDesc padded = desc;
    std::copy(desc.paddedDims, desc.paddedDims + desc.ndims, padded.dims);
    std::fill(padded.paddedOffsets, padded.paddedOffsets + desc.ndims, 0);
    forEachElement(padded, [&](int64_t, int64_t offset) { places[static_cast<size_t>(offset)] = Place::Padding; });
  }
  forEachElement(desc, [&](int64_t, int64_t offset) { places[static_cast<size_t>(offset)] = Place::Element; });
  if (desc.extras.flags != 0) { // compensation follows 8-bit elements at a multiple of 4 bytes; checked as a result
    TensorDesc alone = desc;
    alone.extras = TensorExtras();
    for (size_t i = static_cast<size_t>((alone.bytes() + 3) / 4 * 4); i < places.size(); ++i)
      places[i] = Place::Appended;
  }
  return places;
}

std::vector<size_t> ProblemData::bytesWrittenOf(const TensorDesc &desc) {
  std::vector<size_t> bytes;
  const std::vector<Place> places = placesOf(desc);
  const auto size = static_cast<size_t>(elementBytes(desc)),
             perByte = static_cast<size_t>(bitsOf(desc.dataType) == 4 ? 2 : 1);
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t byte = 0; byte < size && places[i] != Place::Gap; ++byte)
      bytes.push_back(i / perByte * size + byte);
  return bytes;
}

std::vector<ProblemData::Run> ProblemData::straysOf(const TensorDesc &desc) {
  std::vector<Run> runs;
  const std::vector<Place> places = placesOf(desc);
  for (size_t first = 0, end; first < places.size(); first = end) {
    for (end = first + 1; end < places.size() && places[end] == places[first];)
      ++end;
    if (places[first] == Place::Gap || places[first] == Place::Padding)
      runs.push_back({places[first], first, end - first});
  }
  return runs;
}

std::string ProblemData::strayWritesInto(const Slot &slot) const {
  // In place, the bytes around the elements are those of the input.
  const char *data = storage[slot.buffer].data(),
             *before = kept[slot.buffer].empty() ? nullptr : kept[slot.buffer].data();
  const TensorDesc &desc = slot.info.desc;
  for (const Run &run : slot.strays) {
    bool isPadding = run.place == Place::Padding;
    // A function in MLIR that updates a tensor of 4-bit elements may keep the unused half of the last byte.
    const bool mayStay = isPadding && slot.info.isUpdated && problem->desc().kind() == PrimitiveKind::Mlir && before;
    auto areRight = [&](size_t first, size_t count) {
      if (mayStay && areUnchanged(desc, before, data, first, count))
        return true;
      return !isPadding && before ? areUnchanged(desc, before, data, first, count)
                                  : areFilledWith(isPadding ? 0 : prefill, desc, data, first, count);
    };
    if (areRight(run.first, run.count))
      continue;
    size_t wrong = run.first;
    while (areRight(wrong, 1))
      ++wrong;
    return isPadding ? concat("the padding of ", slot.info.name, " is not zero at element ", wrong, " of the buffer")
                     : concat("a gap between the elements of ", slot.info.name, " was overwritten at element ", wrong,
                              " of the buffer");
  }
  return {};
}

bool ProblemData::isOverwritten(const Slot &input) const {
  for (const Slot &slot : slots)
    if (slot.info.isOutput && slot.buffer == input.buffer)
      return false;
  const std::string &before = kept[input.buffer];
  return std::memcmp(before.data(), storage[input.buffer].data(), before.size()) != 0;
}

bool ProblemData::isUntouched(const Slot &output) const {
  const GuardedBuffer &buffer = storage[output.buffer];
  if (const std::string &before = kept[output.buffer]; !before.empty())
    return std::memcmp(before.data(), buffer.data(), before.size()) == 0;
  return std::all_of(buffer.data(), buffer.data() + buffer.size(), [](char byte) { return byte == prefill; });
}

std::string ProblemData::strayWrites() const {
  for (const Slot &slot : slots) {
    if (!storage[slot.buffer].guardsIntact())
      return concat("bytes outside of the buffer of ", slot.info.name, " were overwritten");
    if (!slot.info.isOutput && isOverwritten(slot))
      return concat("the input ", slot.info.name, " was overwritten");
    if (problem->verified.isNoop && slot.info.isOutput) {
      if (!isUntouched(slot))
        return concat("there is nothing to compute, but ", slot.info.name, " was written");
      continue;
    }
    if (std::string stray = slot.info.isOutput ? strayWritesInto(slot) : std::string(); !stray.empty())
      return stray;
  }
  return scratchpad && !scratchpad->guardsIntact() ? "bytes outside of the scratchpad were overwritten" : std::string();
}

std::string ProblemData::outputBytes() const {
  std::string bytes;
  for (const Slot &slot : slots)
    if (slot.info.isOutput)
      bytes.append(storage[slot.buffer].data(), static_cast<size_t>(storage[slot.buffer].size()));
  return bytes;
}

} // namespace quern
