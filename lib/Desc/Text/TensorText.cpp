//===- TensorText.cpp - Tensors in the text form --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The text is type:dims:layout and the properties that do not follow from these. The layout is a tag if one has exactly
// these strides and padded dims, otherwise explicit strides with inner blocks and padding; so every valid descriptor
// has one canonical text.
//
//===----------------------------------------------------------------------===//
#include "Desc/FieldVisitor.h"
#include "Desc/Tensor/Layout.h"
#include "Desc/Text/TextForm.h"
#include "Desc/Text/TextReader.h"

namespace quern {
namespace {

struct FlagName {
  ExtraFlags flag;
  std::string_view name;
};
/// The first three share the compensation mask.
constexpr FlagName flagNames[] = {{ExtraS8S8, "s8s8"},
                                  {ExtraRnnU8S8, "rnn_u8s8"},
                                  {ExtraRnnS8S8, "rnn_s8s8"},
                                  {ExtraAsymmetricSource, "asymmetric"},
                                  {ExtraScaleAdjust, "scale_adjust"}};

void appendExtras(std::string &out, const TensorExtras &extras) {
  bool hasMask = extras.compensationMask != 0;
  for (const FlagName &entry : flagNames) {
    if (!(extras.flags & entry.flag))
      continue;
    out += ':';
    out += entry.name;
    if (entry.flag == ExtraScaleAdjust) {
      out += '@';
      appendFloat(out, extras.scaleAdjust);
    } else if (entry.flag == ExtraAsymmetricSource ? extras.asymmetricCompensationMask != 0 : hasMask) {
      out += '@';
      appendInteger(out,
                    entry.flag == ExtraAsymmetricSource ? extras.asymmetricCompensationMask : extras.compensationMask);
      hasMask = hasMask && entry.flag == ExtraAsymmetricSource;
    }
  }
}

void appendExplicitLayout(std::string &out, const TensorDesc &desc) {
  int rank = layout::rankOf(desc);
  out += ":s" + layout::textOfDims({desc.strides, static_cast<size_t>(rank)});
  if (desc.innerBlockCount > 0)
    out += ":blk";
  for (int b = 0; b < layout::blockCountOf(desc); ++b) {
    appendInteger(out, desc.innerBlocks[b]);
    out += static_cast<char>('a' + std::clamp<int64_t>(desc.innerIndices[b], 0, maxDims - 1));
  }
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  auto isImplied = [&](int d) {
    return desc.paddedDims[d] == (desc.dims[d] == runtimeDim ? runtimeDim : roundUp(desc.dims[d], blocks[d]).value());
  };
  bool isPadded = false, isOffset = false;
  for (int d = 0; d < rank; ++d) {
    isPadded |= !isImplied(d);
    isOffset |= desc.paddedOffsets[d] != 0;
  }
  if (isPadded)
    out += ":pad" + layout::textOfDims({desc.paddedDims, static_cast<size_t>(rank)});
  if (isOffset)
    out += ":at" + layout::textOfDims({desc.paddedOffsets, static_cast<size_t>(rank)});
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Reads dims such as "8x128x?" into `values` and `count`.
bool readDims(TextReader &in, std::string_view what, int64_t (&values)[maxDims], int &count) {
  count = 0;
  do {
    if (count == maxDims)
      return in.fail("more than ", maxDims, " ", what, " are given; a tensor has at most ", maxDims, " dims");
    if (in.take('?'))
      values[count] = runtimeDim;
    else if (!isDigit(in.peek()))
      return in.fail(what, " must be whole numbers of at least 0 or '?', joined by 'x', not '", in.ahead(), "'");
    else if (!in.readInteger(values[count], what))
      return false;
    ++count;
  } while (in.take('x'));
  return true;
}

/// Collects the parts of one tensor, then builds it.
class TensorParser {
public:
  explicit TensorParser(TextReader &in) : in(in) {}

  bool run(TensorDesc &result) {
    size_t start = in.position();
    if (!readType() || !in.ok())
      return false;
    int rank = 0;
    int64_t dims[maxDims];
    if (!in.take(':') || !readDims(in, "dims", dims, rank))
      return in.fail("a tensor must have the form type:dims:layout, as in f32:8x128:ab");
    Result<TensorDesc> started = layout::startBlocked({dims, static_cast<size_t>(rank)}, type);
    if (!started)
      return in.failAt(start, started.error().message);
    desc = *started;
    if (!in.take(':'))
      return in.fail("a layout is missing: a tag such as 'ab', 'any', or 's' and the strides");
    if (!readLayout())
      return false;
    while (in.take(':'))
      if (!readSuffix())
        return false;
    return finish(start, result);
  }

private:
  bool readType() {
    size_t start = in.position();
    std::string_view word = in.takeWord();
    std::optional<DataType> found = fromName<DataType>(word);
    if (!found || *found == DataType::Undef)
      return in.failAt(start, "'", word.substr(0, 40), "' is not a data type; known are ", namesOf<DataType>());
    type = *found;
    return true;
  }

  bool readList(std::string_view what, int64_t (&values)[maxDims]) {
    size_t start = in.position();
    int count = 0;
    if (!readDims(in, what, values, count))
      return false;
    if (count != desc.ndims)
      return in.failAt(start, count, " ", what, " are given for ", desc.ndims, " dims");
    return true;
  }

  bool readLayout() {
    size_t start = in.position();
    std::string_view word = in.takeWord();
    isExplicit = word.size() >= 2 && word[0] == 's' && (isDigit(word[1]) || word[1] == '?');
    if (isExplicit) {
      in.setPosition(start + 1);
      return readList("strides", desc.strides);
    }
    if (word.empty())
      return in.failAt(start, "a layout is missing: a tag such as 'ab', 'any', or 's' and the strides");
    Result<TensorDesc> tagged = TensorDesc::fromTag(desc.shape(), type, word);
    if (!tagged)
      return in.failAt(start, tagged.error().message);
    desc = *tagged;
    return true;
  }

  enum Suffix : unsigned { SuffixBlocks = 1, SuffixPadding = 2, SuffixAt = 4, SuffixOffset = 8, SuffixExtras = 16 };

  bool readSuffix() {
    size_t start = in.position();
    std::string_view word = in.takeWhile([](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    if (word == "off")
      return note(start, word, SuffixOffset) && readOffset();
    if (word == "blk")
      return note(start, word, SuffixBlocks) && readBlocks();
    if (word == "pad")
      return note(start, word, SuffixPadding) && readList("padded dims", desc.paddedDims);
    if (word == "at")
      return note(start, word, SuffixAt) && readList("padded offsets", desc.paddedOffsets);
    in.setPosition(start);
    word = in.takeWord();
    for (size_t i = 0; i < std::size(flagNames); ++i)
      if (word == flagNames[i].name)
        return note(start, word, SuffixExtras << i) && readExtra(flagNames[i].flag);
    return in.failAt(start, "'", word.substr(0, 40),
                     "' is not a known suffix of a tensor; after the layout come off, blk, pad, at, s8s8, rnn_u8s8, ",
                     "rnn_s8s8, asymmetric and scale_adjust");
  }

  bool note(size_t start, std::string_view word, unsigned suffix) {
    if (seen & suffix)
      return in.failAt(start, "'", word, "' is given twice");
    seen |= suffix;
    constexpr unsigned explicitOnly = SuffixBlocks | SuffixPadding | SuffixAt;
    if ((suffix & explicitOnly) && !isExplicit)
      return in.failAt(start, "'", word, "' requires explicit strides; a tag implies it");
    return true;
  }

  bool readOffset() {
    if (in.take('?')) {
      desc.offset0 = runtimeDim;
      return true;
    }
    return isDigit(in.peek()) ? in.readInteger(desc.offset0, "offset")
                              : in.fail("offset must be a whole number of at least 0 or '?'");
  }

  bool readBlocks() {
    do {
      if (desc.innerBlockCount == maxDims)
        return in.fail("more than ", maxDims, " inner blocks are given");
      int64_t &size = desc.innerBlocks[desc.innerBlockCount];
      if (!in.readInteger(size, "block size"))
        return false;
      char letter = in.peek();
      if (size < 1 || size > INT32_MAX || letter < 'a' || letter >= 'a' + desc.ndims)
        return in.fail("a block must be a size from 1 to ", INT32_MAX, " and a letter from 'a' to '",
                       static_cast<char>('a' + desc.ndims - 1), "'");
      in.take(letter);
      desc.innerIndices[desc.innerBlockCount++] = letter - 'a';
    } while (isDigit(in.peek()));
    return true;
  }

  bool readExtra(ExtraFlags flag) {
    TensorExtras &extras = desc.extras;
    extras.flags |= flag;
    if (!in.take('@'))
      return flag != ExtraScaleAdjust || in.fail("scale_adjust needs a value, as in scale_adjust@0.5");
    if (flag == ExtraScaleAdjust)
      return in.readFloat(extras.scaleAdjust, "scale_adjust");
    if (flag == ExtraAsymmetricSource)
      return in.readInteger(extras.asymmetricCompensationMask, "asymmetric mask");
    size_t start = in.position();
    int32_t mask = 0;
    if (!in.readInteger(mask, "compensation mask"))
      return false;
    if (extras.compensationMask != 0 && extras.compensationMask != mask)
      return in.failAt(start, "compensation mask is ", extras.compensationMask, "; it cannot also be ", mask, " here");
    extras.compensationMask = mask;
    return true;
  }

  bool finish(size_t start, TensorDesc &result) {
    CheckedInt inner = layout::innerElements(desc);
    if (inner.overflowed())
      return in.failAt(start, "the inner blocks have more than ", INT64_MAX, " elements");
    if (isExplicit && !(seen & SuffixPadding)) {
      int64_t blocks[maxDims];
      desc.blockSizes(blocks);
      for (int d = 0; d < desc.ndims; ++d)
        desc.paddedDims[d] = desc.dims[d] == runtimeDim ? runtimeDim : roundUp(desc.dims[d], blocks[d]).value();
    }
    if (Result<void> valid = desc.validate(); !valid)
      return in.failAt(start, valid.error().message);
    result = desc;
    return true;
  }

  TextReader &in;
  TensorDesc desc;
  DataType type = DataType::Undef;
  bool isExplicit = false;
  unsigned seen = 0;
};

} // namespace

void appendTensor(std::string &out, const TensorDesc &desc) {
  if (desc.isZero()) {
    out += "none";
    return;
  }
  out += nameOf(desc.dataType);
  out += ':';
  out += layout::textOfDims({desc.dims, static_cast<size_t>(layout::rankOf(desc))});
  if (std::string tag = desc.tag(); !tag.empty())
    out += ':' + tag;
  else if (desc.isBlockedFormat())
    appendExplicitLayout(out, desc);
  else
    out += desc.isSparse() ? ":sparse" : ":undef"; // invalid, but printed in messages
  if (desc.isBlockedFormat() && desc.offset0 != 0) {
    out += ":off";
    desc.offset0 == runtimeDim ? void(out += '?') : appendInteger(out, desc.offset0);
  }
  appendExtras(out, desc.extras);
}

std::string textOf(const TensorDesc &desc) {
  std::string out;
  appendTensor(out, desc);
  return out;
}

bool readTensor(TextReader &in, TensorDesc &desc) {
  size_t start = in.position();
  if (in.takeWord() == "none") {
    desc = TensorDesc();
    return true;
  }
  in.setPosition(start);
  return TensorParser(in).run(desc);
}

Result<TensorDesc> parseTensor(std::string_view text) {
  TextReader in(text);
  TensorDesc desc;
  if (!readTensor(in, desc))
    return in.error();
  if (!in.atEnd()) {
    in.fail("'", in.ahead(), "' is not part of a tensor");
    return in.error();
  }
  return desc;
}

} // namespace quern
