// Checks log: AVX-512 splits the argument by getexp and getmant, other instruction sets by integer arithmetic; all end
// with the three special cases.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,AVX512 --implicit-check-not=math.log
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx2}))' | FileCheck %s --check-prefixes=ALL,BITS,FMA --implicit-check-not=math.log --implicit-check-not=x86
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=sse42}))' | FileCheck %s --check-prefixes=ALL,BITS --implicit-check-not=math. --implicit-check-not=x86

// ALL-LABEL: func.func @single(
// AVX512: "llvm.x86.avx512.mask.getexp.ps.512"
// AVX512: "llvm.x86.avx512.mask.getmant.ps.512"
// BITS: arith.cmpf olt
// BITS: arith.shrui
// BITS: arith.andi
// ALL: arith.divf
// FMA: math.fma
// ALL: arith.cmpf oeq
// ALL: arith.cmpf oeq
// ALL: arith.cmpf ult
// ALL: return
func.func @single(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.log %x : vector<16xf32>
  return %y : vector<16xf32>
}

// ALL-LABEL: func.func @double(
// AVX512: "llvm.x86.avx512.mask.getexp.pd.256"
// BITS: arith.shrui {{.*}} : vector<4xi64>
// ALL: return
func.func @double(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.log %x : vector<4xf64>
  return %y : vector<4xf64>
}
