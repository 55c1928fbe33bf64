//===- Illegal.cpp - Lines that must be refused ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kind of mistake is written out as a template, so that what is wrong can be read here; the numbers in it are drawn.
//
//===----------------------------------------------------------------------===//
#include "Generator.h"

namespace quern {
namespace {

struct Template {
  const char *what;
  const char *line; ///< @n, @m: two small extents; @b: an axis that is out of range; @t: a type that softmax forward refuses here
};

constexpr Template templates[] = {
    {"axis beyond the rank", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=@b"},
    {"negative axis", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=-1"},
    {"axis is no number", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=x"},
    {"shapes differ", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx1@m:ab axis=1"},
    {"ranks differ", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@mx1:abc axis=1"},
    {"src any", "softmax fwd_i alg=accurate src=f32:@nx@m:any dst=f32:@nx@m:ab axis=1"},
    {"no src", "softmax fwd_i alg=accurate dst=f32:@nx@m:ab axis=1"},
    {"unsupported type", "softmax fwd_i alg=accurate src=@t:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown type", "softmax fwd_i alg=accurate src=f31:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown algorithm", "softmax fwd_i alg=approximate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"an algorithm of another primitive", "softmax fwd_i alg=vanilla_lstm src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown primitive", "hardmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown propagation", "softmax sideways alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown field", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 colour=3"},
    {"a field twice", "softmax fwd_i alg=accurate src=f32:@nx@m:ab src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"dst with stride 0", "softmax fwd_i alg=accurate src=f32:1@nx@m:ab dst=f32:1@nx@m:s0x1 axis=1"},
    {"overlapping strides", "softmax fwd_i alg=accurate src=f32:9@nx9@m:ab dst=f32:9@nx9@m:s2x1 axis=1"},
    {"negative stride", "softmax fwd_i alg=accurate src=f32:@nx@m:s-@mx1 dst=f32:@nx@m:ab axis=1"},
    {"negative extent", "softmax fwd_i alg=accurate src=f32:-@nx@m:ab dst=f32:-@nx@m:ab axis=1"},
    {"extents that overflow", "softmax fwd_i alg=accurate src=f32:4611686018427387904x@m4:ab dst=f32:4611686018427387904x@m4:ab axis=1"},
    {"an extent over 2^63", "softmax fwd_i alg=accurate src=f32:9223372036854775808:a dst=f32:9223372036854775808:a axis=0"},
    {"rank 13", "softmax fwd_i alg=accurate src=f32:1x1x1x1x1x1x1x1x1x1x1x1x@m:abcdefghijklm "
                "dst=f32:1x1x1x1x1x1x1x1x1x1x1x1x@m:abcdefghijklm axis=1"},
    {"a tag of another rank", "softmax fwd_i alg=accurate src=f32:@nx@m:abc dst=f32:@nx@m:ab axis=1"},
    {"a letter twice in a tag", "softmax fwd_i alg=accurate src=f32:@nx@m:aa dst=f32:@nx@m:ab axis=1"},
    {"runtime extent with any", "softmax fwd_i alg=accurate src=f32:?x@m:any dst=f32:?x@m:any axis=1"},
    {"half a backward", "softmax bwd_d alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"diff_dst in forward", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1"},
    {"unknown attribute", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.speed=high"},
    {"unknown fpmath mode", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.fpmath=f7"},
    {"empty line", ""},
    {"only the primitive", "softmax"},
};

std::string withNumbers(const char *text, Random &random) {
  std::string line;
  std::string n = std::to_string(random.between(2, 9)), m = std::to_string(random.between(2, 9));
  for (const char *c = text; *c; ++c) {
    if (*c != '@') {
      line += *c;
      continue;
    }
    switch (*++c) {
    case 'n':
      line += n;
      break;
    case 'm':
      line += m;
      break;
    case 'b':
      line += std::to_string(random.between(2, 100));
      break;
    default:
      line += random.pick({"s32", "s4", "u4", "boolean", "e8m0"});
    }
  }
  return line;
}

} // namespace

IllegalCase drawIllegalCase(uint64_t seed, int64_t number) {
  Random random(seed * 7919 + static_cast<uint64_t>(number));
  const Template &chosen = templates[static_cast<size_t>(number) % std::size(templates)];
  return {withNumbers(chosen.line, random), chosen.what};
}

std::string drawDamagedLine(uint64_t seed, int64_t number) {
  Random random(seed * 104729 + static_cast<uint64_t>(number));
  std::string line = drawCase(seed, random.between(0, 1000)).desc.text();
  for (int64_t edits = random.between(1, 4); edits > 0 && !line.empty(); --edits) {
    size_t at = static_cast<size_t>(random.between(0, static_cast<int64_t>(line.size()) - 1));
    switch (random.between(0, 3)) {
    case 0:
      line.erase(at, static_cast<size_t>(random.between(1, 3)));
      break;
    case 1:
      line.insert(at, 1, static_cast<char>(random.between(32, 126)));
      break;
    case 2:
      line[at] = static_cast<char>(random.between(1, 255));
      break;
    default:
      line.insert(at, line.substr(static_cast<size_t>(random.between(0, static_cast<int64_t>(line.size()) - 1)), 5));
    }
  }
  return line;
}

} // namespace quern
