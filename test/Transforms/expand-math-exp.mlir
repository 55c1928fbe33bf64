// Checks that exp becomes arithmetic on every instruction set: no library call, no math.exp, and vectors of the
// original width.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,AVX512 --implicit-check-not=math.exp --implicit-check-not='call @'
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx512_core exp=table}))' | FileCheck %s --check-prefixes=ALL,TABLE --implicit-check-not=math.exp --implicit-check-not='call @'
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx2}))' | FileCheck %s --check-prefixes=ALL,AVX2 --implicit-check-not=math.exp --implicit-check-not=call --implicit-check-not=x86
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=sse42}))' | FileCheck %s --check-prefixes=ALL,SSE --implicit-check-not=math. --implicit-check-not=call --implicit-check-not=x86

// Constants come first and once; the argument is clamped on both sides so that NaN is kept; scalef produces denormals,
// zero and infinity.
// ALL-LABEL: func.func @whole(
// AVX512-COUNT-2: arith.select
// AVX512-COUNT-9: math.fma
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// TABLE-COUNT-2: arith.select
// TABLE: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// TABLE-COUNT-2: math.fma
// TABLE: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// The scale is applied as two normal factors, each the bits of a power of two.
// AVX2-COUNT-2: arith.select
// AVX2-COUNT-2: arith.shli
// AVX2: arith.mulf
// SSE-COUNT-2: arith.select
// SSE-COUNT-2: arith.shli
// ALL: return
func.func @whole(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x fastmath<afn> : vector<16xf32>
  return %y : vector<16xf32>
}

// Without the relaxation for approximations the table is not used.
// ALL-LABEL: func.func @accurate(
// TABLE-NOT: vpermi2var
// ALL: return
func.func @accurate(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// If the argument is known not to be positive, there is no upper clamp.
// ALL-LABEL: func.func @nonpositive(
// ALL-COUNT-1: arith.select
// ALL-NOT: arith.select
// ALL: return
func.func @nonpositive(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x {quern.relax = #quern.relax<nonpositive>} : vector<16xf32>
  return %y : vector<16xf32>
}

// Two registers are two instructions; a vector that fills no register needs none of them; f64 has no table.
// ALL-LABEL: func.func @lengths(
// AVX512-COUNT-2: "llvm.x86.avx512.mask.scalef.pd.512"
// AVX512-NOT: scalef
// TABLE-NOT: vpermi2var
// ALL: return
func.func @lengths(%x: vector<16xf64>, %y: vector<5xf32>) -> (vector<16xf64>, vector<5xf32>) {
  %a = math.exp %x : vector<16xf64>
  %b = math.exp %y : vector<5xf32>
  return %a, %b : vector<16xf64>, vector<5xf32>
}

// A scalar is computed in a register's first lane.
// ALL-LABEL: func.func @scalar(
// ALL: vector.broadcast
// ALL: vector.extract
// ALL: return
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// exp of a sum that need not be rounded: the second term is added after the reduction.
// ALL-LABEL: func.func @unrounded(
// ALL-SAME: %[[HIGH:[a-z0-9_]+]]: vector<8xf32>, %[[LOW:[a-z0-9_]+]]: vector<8xf32>
// ALL: arith.addf {{.*}}, %[[LOW]] : vector<8xf32>
// ALL: return
func.func @unrounded(%high: vector<8xf32>, %low: vector<8xf32>) -> vector<8xf32> {
  %x = arith.addf %high, %low : vector<8xf32>
  %y = math.exp %x {quern.relax = #quern.relax<unrounded>} : vector<8xf32>
  return %y : vector<8xf32>
}
