//===- Aliases.cpp - Outputs that overlap other arguments -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Aliases.h"

#include "Reference/Elements.h"

#include <algorithm>
#include <cstring>
#include <ostream>

namespace quern {
namespace {

constexpr int aliasesOfProblem = 5; ///< drawn per problem

int64_t elementBytes(const TensorDesc &desc) { return std::max<int64_t>(bitsOf(desc.dataType) / 8, 1); }

/// Offset of the output from the start of the other argument.
enum class Shift : uint8_t { None, Element, Back, Half, LastByte, Beside };
constexpr std::string_view shiftNames[] = {
    "at its start",  "one element after its start", "one element before its start",
    "in its middle", "at its last element",         "after its end"};

/// Returns the role of an argument; all sources have the same role.
std::string roleOf(const ArgumentInfo &info) {
  const bool isSource =
      info.index >= arg::multipleSrc && info.index < arg::multipleSrc + static_cast<int32_t>(maxSources);
  return isSource                        ? "a source"
         : info.name.starts_with("post") ? info.name.substr(info.name.find('.') + 1) + " of a post-op"
                                         : info.name;
}

} // namespace

/// An output that overlaps another argument or is adjacent to it.
struct AliasRounds::Alias {
  ArgumentInfo output, other;
  Shift shift = Shift::None;
  int64_t bytes = 0; ///< offset in bytes

  bool isDisjoint() const { return bytes >= other.desc.bytes() || -bytes >= output.desc.bytes(); }
  std::string text() const { return concat(output.name, " ", bytes, " bytes after the start of ", other.name); }
  /// Returns the kind under which the alias is counted.
  std::string kind() const {
    const bool isSame = output.desc.dataType == other.desc.dataType && output.desc.sameStorage(other.desc);
    const bool hasSameType = output.desc.dataType == other.desc.dataType;
    return concat(roleOf(output), " on ", roleOf(other),
                  isSame        ? ""
                  : hasSameType ? " of another layout"
                                : " of another type");
  }
  /// Sets the offset to a multiple of both element sizes, so that every address is valid.
  void place() {
    const int64_t step = std::max(elementBytes(output.desc), elementBytes(other.desc));
    const auto roundUp = [&](int64_t value) { return (value + step - 1) / step * step; };
    switch (shift) {
    case Shift::None:
      break;
    case Shift::Element:
      bytes = step;
      break;
    case Shift::Back:
      bytes = -step;
      break;
    case Shift::Half:
      bytes = roundUp(other.desc.bytes() / 2);
      break;
    case Shift::LastByte:
      bytes = std::max<int64_t>(roundUp(other.desc.bytes()) - step, 0);
      break;
    case Shift::Beside:
      bytes = roundUp(other.desc.bytes());
      break;
    }
  }
};

namespace {

/// Both tensors in one buffer, and the bytes that an execution may write.
class SharedBuffer {
public:
  SharedBuffer(int64_t shift, const TensorDesc &output, const TensorDesc &other)
      : start(std::min<int64_t>(shift, 0)), shift(shift),
        buffer(std::max(other.bytes(), shift + output.bytes()) - start, {GuardedSide::End, 64}),
        isWritable(static_cast<size_t>(buffer.size())) {}
  char *other() { return buffer.data() - start; }
  char *output() { return buffer.data() + shift - start; }
  void keep() { before.assign(buffer.data(), static_cast<size_t>(buffer.size())); }
  void allowWrites(const TensorDesc &desc, const char *data) {
    for (size_t byte : ProblemData::bytesWrittenOf(desc))
      isWritable[static_cast<size_t>(data - buffer.data()) + byte] = true;
  }
  bool isUnchanged() const { return std::memcmp(buffer.data(), before.data(), before.size()) == 0; }
  /// Returns the offset of a byte that changed without permission, or the size if a guard changed; -1 if none did.
  int64_t strayWrite() const {
    for (size_t i = 0; i < before.size(); ++i)
      if (!isWritable[i] && buffer.data()[i] != before[i])
        return static_cast<int64_t>(i);
    return buffer.guardsIntact() ? -1 : buffer.size();
  }

private:
  int64_t start, shift;
  GuardedBuffer buffer;
  std::vector<bool> isWritable;
  std::string before;
};

} // namespace

Result<void> AliasRounds::runOne(Kernel &kernel, const ParsedProblem &problem, ProblemData &data, FillKind fill,
                                 const Alias &alias) {
  data.refill();
  std::map<int32_t, BoundBuffer> buffers = data.buffers();
  const BoundBuffer given = buffers.at(alias.output.index), under = buffers.at(alias.other.index);
  SharedBuffer shared(alias.bytes, alias.output.desc, alias.other.desc);
  std::memcpy(shared.output(), given.data, static_cast<size_t>(alias.output.desc.bytes()));
  std::memcpy(shared.other(), under.data, static_cast<size_t>(alias.other.desc.bytes()));
  shared.keep();
  shared.allowWrites(alias.output.desc, shared.output());
  if (alias.other.isOutput)
    shared.allowWrites(alias.other.desc, shared.other());
  buffers[alias.output.index].data = shared.output();
  buffers[alias.other.index].data = shared.other();

  ReferenceInputs inputs, results;
  for (const ArgumentInfo &info : problem.verified.arguments) {
    if (!info.isOutput || info.isUpdated)
      inputs[info.index] = buffers.at(info.index).data;
    if (info.isOutput)
      results[info.index] = buffers.at(info.index).data;
  }
  Result<std::vector<ReferenceOutput>> expected = computeReference(problem.desc(), inputs);
  if (!expected)
    return expected.takeError();
  if (Result<void> bound = kernel.bind(buffers); !bound)
    return bound;
  if (Result<void> executed = kernel.execute(); !executed) {
    const Error &error = executed.error();
    if (error.status != Status::InvalidArguments || alias.isDisjoint())
      return internalError("refused with ", toString(error.status), ": ", error.message);
    if (!shared.isUnchanged())
      return internalError("refused after something was written: ", error.message);
    ++counts[alias.kind()].refused;
    ++shifts[static_cast<size_t>(alias.shift)].refused;
    return {};
  }
  if (int64_t byte = shared.strayWrite(); byte >= 0)
    return internalError("byte ", byte, " of the shared buffer was overwritten; it belongs to no output");
  for (const ReferenceOutput &output : *expected)
    if (Verdict verdict = judge(problem.desc(), output, results, judgedAs(fill)); !verdict.isRight)
      return internalError("accepted, but the result is wrong: ", verdict.describe(output.desc));
  ++counts[alias.kind()].right;
  ++shifts[static_cast<size_t>(alias.shift)].right;
  return {};
}

Result<void> AliasRounds::run(Kernel &kernel, const ParsedProblem &problem, ProblemData &data, const Case &drawn,
                              const std::function<void(std::string_view)> &announce) {
  std::vector<ArgumentInfo> outputs, all;
  for (const ArgumentInfo &info : problem.verified.arguments)
    if (!info.desc.isHostScalar() && info.desc.bytes() > 0) {
      all.push_back(info);
      if (info.isOutput)
        outputs.push_back(info);
    }
  if (const auto buffers = data.buffers(); buffers.contains(QUERN_ARG_SCRATCHPAD)) {
    ArgumentInfo scratchpad;
    scratchpad.index = QUERN_ARG_SCRATCHPAD;
    scratchpad.name = "scratchpad";
    scratchpad.desc = *buffers.at(QUERN_ARG_SCRATCHPAD).desc;
    scratchpad.isOutput = true;
    outputs.push_back(scratchpad);
  }
  if (problem.verified.isNoop || outputs.empty() || all.size() < 2)
    return {};
  Random random(drawn.data.seed * 1000003 + static_cast<uint64_t>(drawn.number));
  std::vector<Alias> aliases;
  for (const ArgumentInfo &output : outputs) // allowed aliases are rarely drawn, so each is run once
    for (const ArgumentInfo &other : all)
      if (output.index != other.index && output.desc.sameStorage(other.desc) &&
          bitsOf(output.desc.dataType) == bitsOf(other.desc.dataType))
        aliases.push_back({output, other, Shift::None});
  for (int i = 0; i < aliasesOfProblem; ++i) {
    const ArgumentInfo &output =
        outputs[static_cast<size_t>(random.between(0, static_cast<int64_t>(outputs.size()) - 1))];
    const ArgumentInfo &other = all[static_cast<size_t>(random.between(0, static_cast<int64_t>(all.size()) - 1))];
    if (output.index != other.index)
      aliases.push_back(
          {output, other,
           random.pick({Shift::None, Shift::Element, Shift::Back, Shift::Half, Shift::LastByte, Shift::Beside})});
  }
  for (Alias &alias : aliases) {
    Result<bool> first = kernel.isOnHost(alias.output.index), second = kernel.isOnHost(alias.other.index);
    if (!first || !second)
      return first ? second.takeError() : first.takeError();
    if (*first != *second) // only one of them is on the host, as in a reorder
      continue;
    alias.place();
    announce(alias.text());
    if (Result<void> done = runOne(kernel, problem, data, drawn.data.fill, alias); !done)
      return Error{done.error().status, concat(alias.text(), ": ", done.error().message)};
  }
  return {};
}

void AliasRounds::print(std::ostream &os) const {
  const auto line = [&](std::string_view what, const Counts &count) {
    os << what << ": " << count.right << " right, " << count.refused << " refused\n";
  };
  for (const auto &[kind, count] : counts)
    line(kind, count);
  for (size_t i = 0; i < shifts.size() && !counts.empty(); ++i)
    line(shiftNames[i], shifts[i]);
}

std::vector<std::string> AliasRounds::missing(int64_t problems) const {
  constexpr int64_t enough = 100;
  std::vector<std::string> all;
  if (problems < enough)
    return all;
  for (size_t i = 0; i < shifts.size(); ++i) // the last shift does not overlap and is never refused
    if (i == static_cast<size_t>(Shift::Beside) ? shifts[i].right == 0 : shifts[i].refused == 0)
      all.push_back(concat("an output in the buffer of another argument, ", shiftNames[i]));
  return all;
}

} // namespace quern
