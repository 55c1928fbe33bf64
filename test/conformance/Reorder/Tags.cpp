//===- Tags.cpp - Reorders between named layouts --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pairs are run in an order that is spread over all of them, so that the first pairs are a representative sample.
//
//===----------------------------------------------------------------------===//
#include "Reorder/Tags.h"

#include "Layouts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <set>

namespace quern {
namespace {

using namespace cases::reorder;

struct TagPair {
  std::string src, dst;
  auto operator<=>(const TagPair &) const = default;
};

std::vector<TagPair> makePairs() {
  std::vector<TagPair> pairs;
  for (int rank = minTagRank; rank <= maxTagRank; ++rank) {
    std::vector<std::string_view> named = namedTags(rank);
    std::set<std::string_view> isNamed(named.begin(), named.end());
    for (std::string_view src : named)
      for (std::string_view dst : named)
        pairs.push_back({std::string(src), std::string(dst)});
    std::string straight(static_cast<size_t>(rank), 'a');
    std::iota(straight.begin(), straight.end(), 'a');
    for (std::string permuted = straight; std::next_permutation(permuted.begin(), permuted.end());)
      if (!isNamed.contains(permuted))
        pairs.push_back({straight, permuted});
  }
  return pairs;
}

const std::vector<TagPair> &allPairs() {
  static const std::vector<TagPair> pairs = makePairs();
  return pairs;
}

const TagPair &pairOf(int64_t number) {
  constexpr int64_t step = 1000003; // a prime, so that the first N cases are all N pairs
  int64_t count = static_cast<int64_t>(allPairs().size());
  return allPairs()[static_cast<size_t>(number % count * step % count)];
}

/// Draws extents around a block if a dim is blocked, and small ones otherwise. Three of four tensors are small, so that
/// all pairs can be run.
Dims drawDims(Random &random, const TagPair &pair) {
  size_t rank = static_cast<size_t>(std::find_if(pair.src.begin(), pair.src.end(), [](char c) { return c < 'A'; }) -
                                    pair.src.begin());
  Dims ones(rank, 1);
  TensorDesc src = legalLayout(TensorDesc::fromTag(ones, DataType::F32, pair.src)),
             dst = legalLayout(TensorDesc::fromTag(ones, DataType::F32, pair.dst));
  int64_t budget = random.oneIn(4) ? 4096 : 512;
  for (size_t d : {0, 1, 2, 3, 4, 5}) {
    if (d >= rank)
      break;
    int64_t block = std::max(src.paddedDims[d], dst.paddedDims[d]);
    int64_t extent = random.between(1, rank > 4 ? 3 : 5);
    if (block > 1)
      extent = random.pick({block, block, 2 * block, block + 3, block / 2 + 1, block + 1});
    ones[d] = std::clamp<int64_t>(extent, 1, budget);
    budget = std::max<int64_t>(budget / ones[d], 2);
  }
  return ones;
}

class TagCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "reorder"; }
  int64_t firstRound() const override { return 300; }
  int64_t allRounds() const override { return static_cast<int64_t>(allPairs().size()); }

  Case draw(uint64_t seed, int64_t number) const override {
    Random random(seed * 1000037 + static_cast<uint64_t>(number));
    const TagPair &pair = pairOf(number);
    Dims dims = drawDims(random, pair);
    DataType from =
        random.pick({DataType::F32, DataType::F32, DataType::S8, DataType::BF16, DataType::U8, DataType::F64});
    DataType to = random.oneIn(3) ? random.pick({DataType::S8, DataType::F32, DataType::BF16}) : from;
    Case drawn;
    drawn.number = number;
    drawn.desc.op = ReorderDesc{legalLayout(TensorDesc::fromTag(dims, from, pair.src)),
                                legalLayout(TensorDesc::fromTag(dims, to, pair.dst))};
    drawn.data.seed = random.bits() % 1000000;
    return drawn;
  }

  std::span<const int> threadCounts() const override { return twoThreadCounts; }
  std::span<const Mistake> mistakes() const override { return {}; }
  std::span<const DataType> refusedTypes() const override { return {}; }

  void count(const Case &drawn, const PrimitiveDesc &, ProblemData *) override { reached.insert(pairOf(drawn.number)); }
  void print(std::ostream &os) const override {
    std::map<size_t, int64_t> byRank, ofRank;
    auto rankOf = [](const TagPair &pair) {
      return pair.src.find_first_of("0123456789") == pair.src.npos ? pair.src.size()
                                                                   : pair.src.find_first_of("0123456789");
    };
    for (const TagPair &pair : allPairs())
      ++ofRank[rankOf(pair)];
    for (const TagPair &pair : reached)
      ++byRank[rankOf(pair)];
    for (const auto &[rank, number] : ofRank)
      os << "pairs of tags of rank " << rank << ": " << byRank[rank] << " of " << number << '\n';
  }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases < allRounds() || reached.size() == allPairs().size())
      return {};
    return {concat(allPairs().size() - reached.size(), " pairs of tags")};
  }

private:
  static constexpr int twoThreadCounts[] = {1, 3};
  std::set<TagPair> reached;
};

} // namespace

std::unique_ptr<PrimitiveCases> makeReorderTagCases() { return std::make_unique<TagCases>(); }

} // namespace quern
