// One wants to see whole bf16 vectors extended by one masked permutation, and narrowed by vcvtneps2bf16 unless a lane is denormal, which that
// instruction would flush: then by integers.
// REQUIRES: compiler
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-narrow-floats{isa=avx512_bf16}))' | FileCheck %s
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-narrow-floats{isa=avx512}))' | FileCheck %s --check-prefix=INT --implicit-check-not=scf.if --implicit-check-not=xbf16
func.func @narrow(%x: vector<16xf32>) -> vector<16xbf16> {
  // CHECK-LABEL: @narrow
  // CHECK: %[[DENORMAL:.*]] = llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[DENORMAL]]
  // CHECK: scf.if %[[ANY]] -> (vector<16xi16>)
  // CHECK: arith.shrui
  // CHECK: else
  // CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
  // INT-LABEL: @narrow
  // INT: arith.trunci
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}
func.func @widen(%x: vector<16xbf16>) -> vector<16xf32> {
  // CHECK-LABEL: @widen
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"
  // CHECK: arith.select
  // CHECK: vector.bitcast
  // INT-LABEL: @widen
  // INT: llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"
  %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
  return %y : vector<16xf32>
}
