//===- Tags.cpp - Layouts by name -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tag lists the dims a..l from outermost to innermost, in capitals if a dim is blocked, then the inner blocks from
// outermost to innermost ("ABcd4b16a4b"). Aliases name dims by their meaning ("nhwc", "gOIhw16i16o"): the letters of a
// canonical word denote the dims in order, and any permutation of them is an alias. This covers every alias of the
// specification and of oneDNN 3.x.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/Layout.h"

#include <charconv>

namespace quern {
namespace {

/// Words whose i-th letter denotes dim i. No two have the same set of letters, and each has a letter after `l`, so that
/// an alias is never a tag.
constexpr std::string_view canonicalWords[] = {"x",   "nc",   "ncw",   "nchw", "ncdhw", "tn",
                                               "tnc", "ldnc", "ldigo", "ldio", "ldgo",  "oi",
                                               "oiw", "oihw", "oidhw", "goiw", "goihw", "goidhw"};

bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
char toLower(char c) { return isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
bool isLetter(char c) { return isUpper(c) || (c >= 'a' && c <= 'z'); }

/// Returns the canonical word that `word` (in any case) is a permutation of; empty if there is none.
std::string_view canonicalWordOf(std::string_view word) {
  for (std::string_view canonical : canonicalWords) {
    auto isIn = [&](char c) {
      return word.find(c) != word.npos || word.find(static_cast<char>(c - 'a' + 'A')) != word.npos;
    };
    if (canonical.size() == word.size() && std::all_of(canonical.begin(), canonical.end(), isIn))
      return canonical;
  }
  return {};
}

struct ParsedTag {
  std::string_view outer;     ///< letters, outermost first
  std::string_view inner;     ///< sizes and letters
  std::string_view canonical; ///< canonical word of an alias; empty: letters are a..l
  int dimOf(char letter) const {
    char lower = toLower(letter);
    if (canonical.empty())
      return lower >= 'a' && lower <= 'l' ? lower - 'a' : maxDims;
    size_t at = canonical.find(lower);
    return at == canonical.npos ? maxDims : static_cast<int>(at);
  }
};

ParsedTag split(std::string_view tag) {
  size_t letters = 0;
  while (letters < tag.size() && isLetter(tag[letters]))
    ++letters;
  ParsedTag parsed{tag.substr(0, letters), tag.substr(letters), {}};
  if (parsed.outer.size() <= static_cast<size_t>(maxDims))
    parsed.canonical = canonicalWordOf(parsed.outer);
  return parsed;
}

/// Fills `order` with the dims, outermost first, and sets which are blocked.
Result<void> readOuter(std::string_view tag, const ParsedTag &parsed, int rank, int (&order)[maxDims],
                       bool (&isBlocked)[maxDims]) {
  if (parsed.outer.size() != static_cast<size_t>(rank))
    return invalidArguments("tag '", tag, "' is of rank ", parsed.outer.size(), ", the tensor of rank ", rank);
  bool seen[maxDims] = {};
  for (int i = 0; i < rank; ++i) {
    int dim = parsed.dimOf(parsed.outer[i]);
    if (dim >= rank)
      return invalidArguments("tag '", tag, "' is unknown: '", parsed.outer[i], "' is not a dim of a tensor of rank ",
                              rank);
    if (seen[dim])
      return invalidArguments("tag '", tag, "' is unknown: dim '", parsed.outer[i], "' occurs twice");
    seen[dim] = true;
    isBlocked[dim] = isUpper(parsed.outer[i]);
    order[i] = dim;
  }
  return {};
}

Result<void> readInner(std::string_view tag, const ParsedTag &parsed, const bool (&isBlocked)[maxDims],
                       TensorDesc &desc) {
  const char *at = parsed.inner.data(), *end = at + parsed.inner.size();
  bool hasBlock[maxDims] = {};
  while (at != end) {
    int32_t size = 0;
    auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1 || next == end)
      return invalidArguments("tag '", tag, "' is unknown: after the letters come blocks, each a size from 1 to ",
                              INT32_MAX, " and a letter");
    int dim = isUpper(*next) ? maxDims : parsed.dimOf(*next);
    if (dim >= desc.ndims || !isBlocked[dim])
      return invalidArguments("tag '", tag, "' is unknown: block ", size, *next,
                              " is of a dim that has no capital letter");
    if (desc.innerBlockCount == maxDims)
      return invalidArguments("tag '", tag, "' has more than ", maxDims, " inner blocks");
    desc.innerBlocks[desc.innerBlockCount] = size;
    desc.innerIndices[desc.innerBlockCount++] = dim;
    hasBlock[dim] = true;
    at = next + 1;
  }
  for (int d = 0; d < desc.ndims; ++d)
    if (isBlocked[d] && !hasBlock[d])
      return invalidArguments("tag '", tag, "' is unknown: dim ", d, " has a capital letter but no block");
  return {};
}

} // namespace

Result<TensorDesc> TensorDesc::fromTag(std::span<const int64_t> dims, DataType type, std::string_view tag) {
  QUERN_ASSIGN_OR_RETURN(TensorDesc desc, layout::startBlocked(dims, type));
  if (dims.empty())
    return TensorDesc();
  if (tag == "any") {
    desc.formatKind = FormatKind::Any;
  } else {
    ParsedTag parsed = split(tag.substr(0, 256)); // no tag is longer: at most 12 letters and 12 blocks
    int order[maxDims] = {};
    bool isBlocked[maxDims] = {};
    QUERN_RETURN_IF_ERROR(readOuter(tag.substr(0, 256), parsed, desc.ndims, order, isBlocked));
    QUERN_RETURN_IF_ERROR(readInner(tag.substr(0, 256), parsed, isBlocked, desc));
    if (layout::innerElements(desc).overflowed())
      return invalidArguments("the inner blocks of tag '", tag, "' have more than ", INT64_MAX, " elements");
    QUERN_RETURN_IF_ERROR(layout::setDense(desc, {order, dims.size()}));
  }
  QUERN_RETURN_IF_ERROR(desc.validate());
  return desc;
}

std::string TensorDesc::tag() const {
  if (isZero() || !isBlockedFormat())
    return isAny() ? "any" : "";
  int order[maxDims];
  layout::orderOfDims(*this, order);
  TensorDesc tagged = *this;
  std::fill(tagged.paddedOffsets, tagged.paddedOffsets + maxDims, 0);
  if (!layout::setDense(tagged, {order, static_cast<size_t>(layout::rankOf(*this))}) || !tagged.sameLayout(*this))
    return "";
  std::string text;
  bool isBlocked[maxDims] = {};
  for (int b = 0; b < innerBlockCount; ++b)
    isBlocked[innerIndices[b]] = true;
  for (int i = 0; i < ndims; ++i)
    text += static_cast<char>((isBlocked[order[i]] ? 'A' : 'a') + order[i]);
  for (int b = 0; b < innerBlockCount; ++b) {
    text += std::to_string(innerBlocks[b]);
    text += static_cast<char>('a' + innerIndices[b]);
  }
  return text;
}

} // namespace quern
