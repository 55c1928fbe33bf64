//===- FloatModes.cpp - Threads with other floating-point modes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that a program whose threads round in another direction, or flush denormals, gets the same descriptors,
// kernels and results as any other, and that its modes do not change.
//
// FAULTS: float-modes limit=120:
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <cfenv>
#include <cstdio>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

using namespace quern::faults;

namespace {

const char *const lines[] = {
    "softmax fwd_i src=f32:16x1000:ab dst=f32:16x1000:ab axis=1",
    "softmax fwd_i alg=log src=bf16:8x50:ab dst=f32:8x50:ab axis=1 "
    "attr.post_ops=eltwise(alg=linear,alpha=0.1,beta=0.3)",
    "eltwise fwd_i alg=pow alpha=0.3 beta=2.7 src=f32:777:a dst=f32:777:a",
    "eltwise fwd_i alg=gelu_erf src=f32:777:a dst=bf16:777:a",
    "reorder src=f32:33x70:ab dst=s8:33x70:ba attr.scales=dst(mask=2)",
    "binary alg=div src=f32:20x31:ab src1=f32:1x31:ab dst=f32:20x31:ab",
    "sum scales=0.1,0.7 srcs=f32:100:a,f16:100:a dst=f32:100:a",
    ("rnn fwd_i cell=lstm direction=left2right src_layer=f32:3x5x16:abc weights_layer=f32:1x1x16x4x32:abcde "
     "weights_iter=f32:1x1x32x4x32:abcde dst_layer=f32:3x5x32:abc"),
};

/// Floating-point modes of this thread.
struct Modes {
  int rounding = FE_TONEAREST;
  bool flushes = false;

  void set() const {
    std::fesetround(rounding);
#ifdef __x86_64__
    constexpr unsigned flushBits = 0x8040; // FTZ and DAZ
    _mm_setcsr((_mm_getcsr() & ~flushBits) | (flushes ? flushBits : 0U));
#endif
  }
  bool isCurrent() const {
#ifdef __x86_64__
    if (((_mm_getcsr() & 0x8040U) != 0) != flushes)
      return false;
#endif
    return std::fegetround() == rounding;
  }
};

struct Outcome {
  std::string text, artifact, bytes;
  bool operator==(const Outcome &) const = default;
};

/// Makes every call of the library in these modes, which must not change.
Outcome runIn(const Modes &modes, const Cpu &cpu, const char *line) {
  const auto call = [&](quern_status_t status, const char *what) {
    const bool isKept = modes.isCurrent();
    Modes().set();
    require(status, std::string(what) + ": " + line);
    require(isKept, std::string(what) + " changed the floating-point modes: " + line);
    modes.set();
  };
  Execution execution;
  Outcome outcome;
  modes.set();
  call(execution.describe(cpu.engine, line), "describing");
  call(execution.create(), "creating");
  const char *text = nullptr;
  call(quern_primitive_desc_get_text(execution.descriptor(), &text), "text");
  outcome.text = text;
  size_t size = 0;
  call(quern_primitive_get_cache_blob(execution.handle(), &size, nullptr), "size of the artifact");
  outcome.artifact.resize(size);
  call(quern_primitive_get_cache_blob(execution.handle(), &size, reinterpret_cast<uint8_t *>(outcome.artifact.data())),
       "artifact");
  call(execution.bind(), "binding");
  Modes().set();
  execution.fill();
  modes.set();
  call(execution.run(cpu.stream), "executing");
  Modes().set();
  outcome.bytes = execution.outputs();
  return outcome;
}

} // namespace

int main() {
  const Cpu cpu;
  require(quern_set_primitive_cache_capacity(0), "quern_set_primitive_cache_capacity");
  require(quern_set_disk_cache(nullptr), "quern_set_disk_cache"); // makes each call compile its kernel
  int passed = 0;
  for (const char *line : lines) {
    const Outcome usual = runIn({}, cpu, line);
    for (int rounding : {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD})
      for (bool flushes : {false, true}) {
        const Outcome other = runIn({rounding, flushes}, cpu, line);
        const std::string where =
            " with rounding " + std::to_string(rounding) + (flushes ? ", flushing denormals: " : ": ") + line;
        require(other.text == usual.text, "another text" + where);
        require(other.artifact == usual.artifact, "another kernel" + where);
        require(other.bytes == usual.bytes, "other results" + where);
        ++passed;
      }
  }
  std::printf("%d passed, 0 failed\n", passed);
}
