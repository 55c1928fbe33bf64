//===- KeyTest.cpp - Targets and keys -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests targets and keys. Target::host() is determined once per process, so each cap is tested in a separate process.
//
//===----------------------------------------------------------------------===//
#include "Desc/Key.h"

#include "Support/Bytes.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace quern;

namespace {

constexpr CpuIsa allIsas[] = {CpuIsa::Sse42,      CpuIsa::Avx2,       CpuIsa::Avx512,   CpuIsa::Avx512Vnni,
                              CpuIsa::Avx512Bf16, CpuIsa::Avx512Fp16, CpuIsa::Avx512Amx};

/// Makes death tests run in newly started processes, except in an emulator, where programs cannot start themselves.
void startAlone() {
#ifdef QUERN_EMULATOR
  GTEST_FLAG_SET(death_test_style, "fast");
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#endif
}

[[noreturn]] void exitWithCap(const char *variable) {
  setenv("QUERN_MAX_CPU_ISA", variable, 1);
  std::exit(static_cast<int>(Target::host().isa));
}

/// Returns the highest level of this machine that does not exceed `cap`; a cap of another architecture is ignored.
CpuIsa capped(CpuIsa cap) {
  CpuIsa best = isasOf(archOf(detectedIsa())).front();
  for (CpuIsa isa : isasOf(archOf(best)))
    if (includesIsa(detectedIsa(), isa) && (archOf(cap) != archOf(isa) || isa <= cap))
      best = isa;
  return best;
}

void expectCap(const char *variable, CpuIsa cap) {
  startAlone();
  EXPECT_EXIT(exitWithCap(variable), testing::ExitedWithCode(static_cast<int>(capped(cap))), "") << variable;
}

[[noreturn]] void exitAfterSetMax() {
  setenv("QUERN_MAX_CPU_ISA", "avx2", 1);
  const CpuIsa lowest = isasOf(archOf(detectedIsa())).front();
  bool set = static_cast<bool>(setMaxCpuIsa(lowest)); // takes precedence over the variable
  bool isLowest = Target::host().isa == lowest;
  Result<void> late = setMaxCpuIsa(CpuIsa::Avx2);
  std::exit(set && isLowest && !late && late.error().status == Status::InvalidArguments ? 0 : 1);
}

/// Checks that a limit for another architecture does not replace the variable.
[[noreturn]] void exitAfterSetMaxOfOther() {
  const CpuArch hostArch = archOf(detectedIsa());
  const CpuIsa other = isasOf(hostArch == CpuArch::X86_64 ? CpuArch::AArch64 : CpuArch::X86_64).back();
  const CpuIsa lowest = isasOf(hostArch).front();
  setenv("QUERN_MAX_CPU_ISA", std::string(nameOfIsa(lowest)).c_str(), 1);
  const bool set = static_cast<bool>(setMaxCpuIsa(other));
  std::exit(set && Target::host().isa == lowest ? 0 : 1);
}

} // namespace

TEST(Target, TextRoundTrips) {
  for (CpuIsa isa : allIsas) {
    Target target{isa, 48, 2048, 32768};
    Result<Target> parsed = Target::parse(target.text());
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, target);
    EXPECT_EQ(*Target::parse(nameOfIsa(isa)), Target{isa});
  }
  EXPECT_EQ((Target{CpuIsa::Avx2, 32, 2048, 65536}.text()), "avx2:l2=2048,l3=65536");
  EXPECT_EQ(Target{CpuIsa::Avx512Bf16}.text(), "avx512_core_bf16");
  EXPECT_EQ(*Target::parse(Target::host().text()), Target::host());
  EXPECT_EQ(*Target::parse("native"), Target::host());
}

TEST(Target, TextOfArmRoundTrips) {
  for (std::string_view text : {"neon", "neon_dotprod", "neon_bf16:l2=512", "neon:l1=32", "sve:vl=128", "sve:vl=256",
                                "sve_bf16:vl=512,l1=32,l3=65536"}) {
    Result<Target> target = Target::parse(text);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_TRUE(target->isAArch64());
    EXPECT_EQ(target->text(), text);
    EXPECT_EQ(*Target::parse(target->text()), *target);
  }
  EXPECT_EQ(Target::parse("sve:l1=64,vl=256")->text(), "sve:vl=256");
  EXPECT_EQ(Target::parse("neon")->lanes32(), 4);
  EXPECT_EQ(Target::parse("sve:vl=512")->lanes32(), 16);
  EXPECT_TRUE(Target::parse("sve_bf16:vl=128")->hasPairDots());
  EXPECT_FALSE(Target::parse("sve:vl=128")->hasPairDots());
}

TEST(Target, LevelsIncludeWhatTheirMachinesRun) {
  for (CpuArch arch : {CpuArch::X86_64, CpuArch::AArch64})
    for (CpuIsa isa : isasOf(arch)) {
      EXPECT_TRUE(includesIsa(isa, isa));
      EXPECT_TRUE(includesIsa(isa, isasOf(arch).front()));
      EXPECT_TRUE(includesIsa(isasOf(arch).back(), isa));
      EXPECT_FALSE(includesIsa(isa, isasOf(arch == CpuArch::X86_64 ? CpuArch::AArch64 : CpuArch::X86_64).front()));
    }
  EXPECT_FALSE(includesIsa(CpuIsa::Sve, CpuIsa::NeonDotprod))
      << "the first machines with SVE have no dot product instructions";
  EXPECT_FALSE(includesIsa(CpuIsa::Sve, CpuIsa::NeonBf16));
  EXPECT_FALSE(Target::parse("neon_bf16")->has(CpuIsa::Sve));
  EXPECT_FALSE(Target::parse("neon")->has(CpuIsa::Sse42));
}

TEST(Target, RunsWhatItsLevelIncludes) {
  const auto runs = [](std::string_view machine, std::string_view code) {
    return Target::parse(machine)->runs(*Target::parse(code));
  };
  for (std::string_view code : {"sse42", "avx2:l2=256", "avx512_core_bf16", "avx512_core_bf16:l1=16"})
    EXPECT_TRUE(runs("avx512_core_bf16", code)) << code;
  for (std::string_view code : {"avx512_core_fp16", "neon", "sve:vl=512", "spirv64"})
    EXPECT_FALSE(runs("avx512_core_bf16", code)) << code;
  for (std::string_view code : {"neon", "neon_bf16", "sve:vl=256", "sve_bf16:vl=256,l2=512"})
    EXPECT_TRUE(runs("sve_bf16:vl=256", code)) << code;
  for (std::string_view code : {"sse42", "avx512_core_amx", "sve:vl=128", "sve:vl=512", "sve_bf16:vl=512", "spirv64"})
    EXPECT_FALSE(runs("sve_bf16:vl=256", code)) << code;
  EXPECT_FALSE(runs("sve:vl=256", "neon_dotprod"));
  EXPECT_TRUE(runs("spirv64", "spirv64"));
  EXPECT_FALSE(runs("spirv64", "spirv64:sg=8"));
}

TEST(Target, TextOfADeviceRoundTrips) {
  for (std::string_view text :
       {"spirv64:sg=16+32,group=1024,slm=65536", "spirv64:sg=8+16+32,group=512,slm=131072,f16,f64",
        "spirv64:sg=1+128,group=1,slm=1,f64", "spirv64:sg=16+32,group=1024,slm=65536,vec=4",
        "spirv64:sg=8,group=256,slm=32768,vec=64,f16"}) {
    Result<Target> target = Target::parse(text);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_FALSE(target->isCpu());
    EXPECT_EQ(target->text(), text);
    EXPECT_EQ(target->name(), "spirv64");
    EXPECT_EQ(*Target::parse(target->text()), *target);
    EXPECT_NE(*target, Target());
  }
  EXPECT_EQ(Target::parse("spirv64")->text(), "spirv64:sg=16+32,group=1024,slm=65536,vec=16");
  EXPECT_EQ(Target::parse("spirv64:group=1024")->text(), "spirv64:sg=16+32,group=1024,slm=65536");
  EXPECT_EQ(Target::parse("spirv64:f16")->device.hasF16, true);
  EXPECT_TRUE(Target::parse("spirv64:sg=8+16")->device.hasSubGroups(8));
  EXPECT_FALSE(Target::parse("spirv64:sg=8+16")->device.hasSubGroups(32));
}

TEST(Target, AcceptsTheNamesOfOneDnnInAnyCase) {
  EXPECT_EQ(Target::parse("SSE41")->isa, CpuIsa::Sse42);
  EXPECT_EQ(Target::parse("avx")->isa, CpuIsa::Sse42);
  EXPECT_EQ(Target::parse("AVX2_VNNI")->isa, CpuIsa::Avx2);
  EXPECT_EQ(Target::parse("AVX512_CORE")->isa, CpuIsa::Avx512);
  EXPECT_EQ(Target::parse("AVX512_CORE_FP16")->isa, CpuIsa::Avx512Fp16);
  EXPECT_EQ(Target::parse("avx10_1_512_amx")->isa, CpuIsa::Avx512Amx);
}

TEST(Target, RefusesInvalidTextWithTheValue) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "target '' is unknown"},
      {"pentium", "target 'pentium' is unknown"},
      {"avx2:", "is not one of l1"},
      {"avx2:l4=1", "'l4' is not one of"},
      {"avx2:l2=0", "l2 is '0'"},
      {"avx2:l2=99999999999", "l2 is '99999999999'"},
      {"avx2:l2=1,", "'' is not one of"},
      {"avx2:l2", "l2 is ''"},
      {"native:l2=5", "native does not accept cache sizes"},
      {"avx2:l2=5k", "l2 is '5k'"},
      {"avx2:sg=16", "'sg' is not one of l1"},
      {"avx2:vl=256", "which this level lacks"},
      {"neon:vl=128", "which this level lacks"},
      {"sve", "lacks the length of its vectors"},
      {"sve_bf16:l2=512", "lacks the length of its vectors"},
      {"sve:vl=1024", "vl is '1024'; it must be 128, 256 or 512"},
      {"sve:v=1", "'v' is not one of l1, l2, l3 and vl"},
      {"spirv32", "target 'spirv32' is unknown"},
      {"spirv64:", "'' is not one of sg"},
      {"spirv64:l2=5", "'l2' is not one of sg"},
      {"spirv64:sg=12", "sg is '12'"},
      {"spirv64:sg=16+", "sg is '16+'"},
      {"spirv64:sg=256", "sg is '256'"},
      {"spirv64:group=0", "group is '0'"},
      {"spirv64:slm=-1", "slm is '-1'"},
      {"spirv64:vec=0", "vec is '0'; it must be a power of two from 4 to 64"},
      {"spirv64:vec=2", "vec is '2'"},
      {"spirv64:vec=12", "vec is '12'"},
      {"spirv64:vec=128", "vec is '128'"},
      {"spirv64:vec", "vec is ''"},
      {"spirv64:f16=1", "'f16' is not one of sg"},
  };
  for (auto [text, fragment] : cases) {
    Result<Target> target = Target::parse(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().status, Status::InvalidArguments);
    EXPECT_NE(target.error().message.find(fragment), std::string::npos) << target.error().message;
  }
}

TEST(Target, HostHasCachesOfSensibleSize) {
  EXPECT_GE(Target::host().l1Kib, 8);
  EXPECT_GE(Target::host().l2Kib, 64);
  EXPECT_LE(Target::host().isa, detectedIsa());
}

TEST(TargetDeathTest, EnvironmentCapsTheHost) {
  expectCap("SSE41", CpuIsa::Sse42);
  expectCap("avx2", CpuIsa::Avx2);
  expectCap("AVX512_CORE", CpuIsa::Avx512);
  expectCap("neon", CpuIsa::Neon);
  expectCap("neon_bf16", CpuIsa::NeonBf16);
  expectCap("SVE", CpuIsa::Sve);
  expectCap("DEFAULT", detectedIsa());
  expectCap("no-such-cpu", detectedIsa()); // unknown values are ignored
}

TEST(TargetDeathTest, SetMaxCpuIsaWorksUntilTheHostIsUsed) {
  startAlone();
  EXPECT_EXIT(exitAfterSetMax(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exitAfterSetMaxOfOther(), testing::ExitedWithCode(0), "");
  EXPECT_FALSE(setMaxCpuIsa(static_cast<CpuIsa>(99)));
}

TEST(Key, HoldsBuildTargetAndDescriptor) {
  PrimitiveDesc desc = *PrimitiveDesc::parse("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=1");
  Target target{CpuIsa::Avx2, 32, 512, 16384};
  KernelKey key = makeKey(desc, target);
  ByteReader in(key.bytes);
  EXPECT_EQ(in.getString(), compilerBuildId());
  EXPECT_EQ(in.getString(), target.text());
  EXPECT_EQ(in.getString(), desc.canonicalBytes());
  EXPECT_TRUE(in.ok() && in.atEnd());
  EXPECT_EQ(key.digest, digestOf(key.bytes));
  EXPECT_EQ(key, makeKey(desc, target));
}

TEST(Key, EveryFieldOfTheTargetChangesTheKey) {
  PrimitiveDesc desc;
  const Target base;
  for (Target other : {Target{CpuIsa::Avx2}, Target{CpuIsa::Sse42, 33}, Target{CpuIsa::Sse42, 32, 1025},
                       Target{CpuIsa::Sse42, 32, 1024, 1}, *Target::parse("spirv64")}) {
    EXPECT_NE(makeKey(desc, base).bytes, makeKey(desc, other).bytes);
    EXPECT_NE(makeKey(desc, base).digest, makeKey(desc, other).digest);
  }
  const Target device = *Target::parse("spirv64");
  for (std::string_view text :
       {"spirv64:sg=8,vec=16", "spirv64:vec=16,f64", "spirv64:vec=16,f16", "spirv64:group=256,vec=16",
        "spirv64:slm=1024,vec=16", "spirv64:vec=8", "spirv64:sg=16+32"}) {
    EXPECT_NE(makeKey(desc, device).bytes, makeKey(desc, *Target::parse(text)).bytes) << text;
    EXPECT_NE(makeKey(desc, device).digest, makeKey(desc, *Target::parse(text)).digest) << text;
  }
}
