//===- DamageLine.cpp - Variants of lines of problems ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DamageLine.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

namespace quern::fuzz {
namespace {

using Words = std::vector<std::string>;

/// Splits the line into runs of letters and digits, and single other characters.
Words wordsOf(const std::string &line) {
  Words words;
  bool continues = false;
  for (char c : line) {
    const bool isWord = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (isWord && continues)
      words.back() += c;
    else
      words.emplace_back(1, c);
    continues = isWord;
  }
  return words;
}

size_t drawIndex(Random &random, size_t count) {
  return static_cast<size_t>(random.between(0, static_cast<int64_t>(count) - 1));
}

/// Replaces each number by the result of `choose` for its digits.
template <typename Choose> std::string withNumbers(const std::string &text, Choose choose) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    result += end > at ? choose(text.substr(at, end - at)) : std::string(1, text[at++]);
    at = std::max(at, end);
  }
  return result;
}

const char *const numbers[] = {"0",
                               "1",
                               "2",
                               "3",
                               "5",
                               "7",
                               "8",
                               "15",
                               "16",
                               "17",
                               "31",
                               "32",
                               "33",
                               "64",
                               "65",
                               "127",
                               "128",
                               "256",
                               "1000",
                               "4096",
                               "65536",
                               "2147483647",
                               "2147483648",
                               "4294967296",
                               "9223372036854775807",
                               "9223372036854775808",
                               "99999999999999999999",
                               "?",
                               "-1"};
const char *const types[] = {"f32",     "f64",  "f16", "bf16", "s32",     "s8",      "u8",  "boolean", "f8_e5m2",
                             "f8_e4m3", "e8m0", "s4",  "u4",   "f4_e2m1", "f4_e3m0", "s64", "undef"};
const char *const pieces[] = {" attr.scratchpad=user",
                              " attr.deterministic=true",
                              " attr.fpmath=bf16",
                              " attr.accumulation=any",
                              " attr.scales=src(mask=1)",
                              " attr.scales=dst",
                              " attr.scales=src(mask=3,type=bf16,groups=2x4)",
                              " attr.zero_points=src",
                              " attr.zero_points=dst(mask=2)",
                              " attr.post_ops=sum",
                              " attr.post_ops=eltwise(alg=relu)",
                              " attr.post_ops=eltwise(alg=linear,alpha=2,beta=0.5)",
                              " attr.post_ops=eltwise(alg=gelu_erf),sum(scale=0.5)",
                              " attr.post_ops=binary(alg=mul,src1=f32:1x16:ab)",
                              " attr.post_ops=prelu(mask=2)",
                              " attr.dropout.seed=s64",
                              ":off3",
                              ":off?",
                              ":s8s8",
                              ":s8s8@1",
                              ":asymmetric",
                              ":scale_adjust@0.5",
                              ":pad32x32",
                              ":at1x1",
                              ":blk16a",
                              ":blk4a4b",
                              ":s1x2",
                              "=",
                              "(",
                              ")",
                              ",",
                              ":",
                              "x",
                              "any",
                              " axis=1",
                              " alg=log",
                              "none"};

void damage(Random &random, Words &words, const Words &others) {
  const size_t at = drawIndex(random, words.size());
  std::string &word = words[at];
  const auto position = words.begin() + static_cast<ptrdiff_t>(at);
  switch (random.between(0, 11)) {
  case 0:
  case 1:
  case 2: {
    const size_t chosen = drawIndex(random, std::size(numbers));
    const bool isFirst = random.oneIn(2); // false: all numbers of the word
    bool isReplaced = false;
    word = withNumbers(word, [&](const std::string &number) {
      const bool replaces = !isReplaced || !isFirst;
      isReplaced = true;
      return replaces ? std::string(numbers[chosen]) : number;
    });
    break;
  }
  case 3:
    word = types[drawIndex(random, std::size(types))];
    break;
  case 4:
    words.erase(position);
    break;
  case 5:
    words.insert(position, words[drawIndex(random, words.size())]);
    break;
  case 6:
    word = others[drawIndex(random, others.size())];
    break;
  case 7:
  case 8:
    words.insert(random.oneIn(3) ? position : words.end(), pieces[drawIndex(random, std::size(pieces))]);
    break;
  case 9:
    word[drawIndex(random, word.size())] = static_cast<char>(random.between(1, 255));
    break;
  case 10:
    std::swap(word, words[drawIndex(random, words.size())]);
    break;
  default:
    for (char &c : word)
      c = static_cast<char>(random.oneIn(4) && std::isalpha(static_cast<unsigned char>(c)) ? c ^ 32 : c);
  }
}

} // namespace

std::string withSmallDims(Random &random, const std::string &original) {
  const uint64_t salt = random.bits();
  constexpr int small[] = {2, 3, 4, 5, 7, 8, 12, 16, 17, 19, 32, 33};
  std::string line;
  for (const std::string &word : wordsOf(original)) {
    const bool isDims = word.find('x') != word.npos && std::isdigit(static_cast<unsigned char>(word[0]));
    line += !isDims ? word : withNumbers(word, [&](const std::string &number) {
      if (number.size() > 18 || std::stoll(number) <= 6)
        return number;
      return std::to_string(small[(std::stoull(number) * 2654435761U + salt) % std::size(small)]);
    });
  }
  return line;
}

std::string damaged(Random &random, const std::string &original, const std::string &other) {
  Words words = wordsOf(original);
  const Words others = wordsOf(other);
  for (int64_t left = random.oneIn(5) ? random.between(1, 12) : random.between(1, 3); left > 0 && !words.empty();
       --left)
    damage(random, words, others);
  std::string line;
  for (const std::string &word : words)
    line += word;
  return line;
}

} // namespace quern::fuzz
