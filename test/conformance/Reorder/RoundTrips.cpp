//===- RoundTrips.cpp - Bit-exact round trips -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that reorders of every type from one family of layouts to another and back reproduce all bits. Elements are
// random bits, which include NaNs and denormals. Reorders do not read the padding of a source, so it is also random.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Reference/Elements.h"
#include "Reorder/Generator.h"

#include <cstring>
#include <ostream>

namespace quern {
namespace {

using namespace cases::reorder;

struct Trip {
  DataType type;
  LayoutFamily from, to;
  auto operator<=>(const Trip &) const = default;
};

/// Broadcasts cannot be reversed, and open sizes cannot be combined with blocks.
bool isOnAWay(LayoutFamily family) { return family != LayoutFamily::Broadcast && family != LayoutFamily::Runtime; }

std::vector<Trip> makeTrips() {
  std::vector<Trip> trips;
  for (DataType type : allTypes)
    for (LayoutFamily from : allFamilies)
      for (LayoutFamily to : allFamilies)
        if (isOnAWay(from) && isOnAWay(to))
          trips.push_back({type, from, to});
  Random random(1);
  random.shuffle(trips);
  return trips;
}

const std::vector<Trip> &allTrips() {
  static const std::vector<Trip> trips = makeTrips();
  return trips;
}

const Trip &tripOf(int64_t number) { return allTrips()[static_cast<size_t>(number) % allTrips().size()]; }

/// Returns the bits of an element.
uint64_t bitsAt(const TensorDesc &desc, const void *buffer, int64_t offset) {
  int64_t bits = bitsOf(desc.dataType);
  const char *bytes = static_cast<const char *>(buffer);
  if (bits == 4)
    return static_cast<uint64_t>(static_cast<unsigned char>(bytes[offset / 2]) >> (offset % 2 * 4) & 15);
  uint64_t value = 0;
  std::memcpy(&value, bytes + offset * bits / 8, static_cast<size_t>(bits / 8));
  return value;
}

std::vector<uint64_t> bitsOfElements(const TensorDesc &desc, const void *buffer) {
  std::vector<uint64_t> all;
  forEachElement(desc, [&](int64_t, int64_t offset) { all.push_back(bitsAt(desc, buffer, offset)); });
  return all;
}

/// Runs a reorder on the current bytes of its source.
Result<void> execute(const Device &device, const ParsedProblem &problem, ProblemData &data) {
  Result<Kernel> kernel = Kernel::create(device, problem.text);
  if (!kernel)
    return kernel.takeError();
  data.keepInputs();
  data.refill();
  if (Result<void> bound = kernel->bind(data.buffers()); !bound)
    return bound;
  if (Result<void> executed = kernel->execute(); !executed)
    return executed;
  if (std::string stray = data.strayWrites(); !stray.empty())
    return internalError(stray);
  return {};
}

Result<void> compare(const std::vector<uint64_t> &before, const std::vector<uint64_t> &after, const char *where) {
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i])
      return internalError(where, " element ", i, " has the bits ", after[i], " instead of ", before[i]);
  return {};
}

Result<void> travel(const Device &device, const Case &drawn) {
  const ReorderDesc &there = std::get<ReorderDesc>(drawn.desc.op);
  PrimitiveDesc wayBack = drawn.desc;
  wayBack.op = ReorderDesc{there.dst, there.src};
  Result<ParsedProblem> first = readProblem(drawn.desc.text(), device.target()),
                        second = readProblem(wayBack.text(), device.target());
  if (!first || !second)
    return first ? second.takeError() : first.takeError();
  // One direction has buffers guarded at their end, the other at their beginning.
  DataOptions data[] = {drawn.data, drawn.data};
  data[drawn.number % 2].guarded = GuardedSide::Beginning;
  Result<ProblemData> out = ProblemData::create(*first, data[0]), back = ProblemData::create(*second, data[1]);
  if (!out || !back)
    return out ? back.takeError() : out.takeError();
  Random random(drawn.data.seed);
  char *start = static_cast<char *>(out->buffer(arg::src));
  for (int64_t byte = 0; byte < there.src.bytes(); ++byte)
    start[byte] = static_cast<char>(random.bits());
  if (Result<void> executed = execute(device, *first, *out); !executed)
    return executed;
  std::vector<uint64_t> sent = bitsOfElements(there.src, out->buffer(arg::src));
  if (Result<void> same = compare(sent, bitsOfElements(there.dst, out->buffer(arg::dst)), "on the way there"); !same)
    return same;
  std::memcpy(back->buffer(arg::src), out->buffer(arg::dst), static_cast<size_t>(there.dst.bytes()));
  if (Result<void> executed = execute(device, *second, *back); !executed)
    return Error{executed.error().status, "on the way back: " + executed.error().message};
  return compare(sent, bitsOfElements(there.src, back->buffer(arg::dst)), "after the way back");
}

class RoundTripCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "reorder"; }
  int64_t firstRound() const override { return allRounds(); }
  int64_t allRounds() const override { return static_cast<int64_t>(allTrips().size()); }

  Case draw(uint64_t seed, int64_t number) const override {
    Random random(seed * 1000039 + static_cast<uint64_t>(number));
    const Trip &trip = tripOf(number);
    Dims dims = drawShape(random, {trip.type, trip.type, trip.from, AttributeClass::None});
    Case drawn;
    drawn.number = number;
    drawn.desc.op = ReorderDesc{drawSide(random, trip.from, dims, trip.type, /*isWritten=*/true),
                                drawSide(random, trip.to, dims, trip.type, /*isWritten=*/true)};
    drawn.data.seed = random.bits() % 1000000;
    return drawn;
  }

  std::optional<Result<void>> runInstead(const Device &device, const Case &drawn) const override {
    return travel(device, drawn);
  }
  std::span<const Mistake> mistakes() const override { return {}; }
  std::span<const DataType> refusedTypes() const override { return {}; }
  void count(const Case &drawn, const PrimitiveDesc &, ProblemData *) override { ++reached[tripOf(drawn.number)]; }

  void print(std::ostream &os) const override {
    os << reached.size() << " of " << allTrips().size() << " round trips: type, family of layouts there and back\n";
  }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases < allRounds() || reached.size() == allTrips().size())
      return {};
    return {concat(allTrips().size() - reached.size(), " round trips")};
  }

  bool agrees(const PeerComparison &, size_t, double, double) const override { return true; }

private:
  std::map<Trip, int64_t> reached;
};

} // namespace

std::unique_ptr<PrimitiveCases> makeReorderRoundTripCases() { return std::make_unique<RoundTripCases>(); }

} // namespace quern
