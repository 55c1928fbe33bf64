// Checks that whole bf16 vectors are extended by one masked permutation and narrowed by vcvtneps2bf16. If a lane is
// denormal, which that instruction would flush, integers are used. Neighbors share the test and the instruction, unless
// an op uses the first before the second.
// REQUIRES: compiler
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-narrow-floats{target=avx512_core_bf16}))' | FileCheck %s
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-narrow-floats{target=avx512_core}))' | FileCheck %s --check-prefix=INT --implicit-check-not=scf.if --implicit-check-not=xbf16
func.func @narrow(%x: vector<16xf32>) -> vector<16xbf16> {
  // CHECK-LABEL: @narrow
  // CHECK: %[[DENORMAL:.*]] = llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[DENORMAL]]
  // CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
  // CHECK: scf.if %[[ANY]] -> (vector<16xi16>)
  // CHECK: arith.shrui
  // CHECK: arith.select %[[DENORMAL]]
  // INT-LABEL: @narrow
  // INT: arith.trunci
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}
func.func @narrow_pair(%x: vector<16xf32>, %z: vector<16xbf16>, %to: memref<32xbf16>) {
  // CHECK-LABEL: @narrow_pair(
  // CHECK-SAME: %[[X:.*]]: vector<16xf32>,
  // CHECK: %[[Y:.*]] = arith.bitcast
  // CHECK: vector.reduction <or>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[Y]], %[[X]])
  // CHECK: scf.if {{.*}} -> (vector<32xi16>)
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"
  // CHECK-NOT: scf.if
  // CHECK: vector.store
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  %y = arith.extf %z : vector<16xbf16> to vector<16xf32>
  %b = arith.truncf %y : vector<16xf32> to vector<16xbf16>
  vector.store %a, %to[%c0] : memref<32xbf16>, vector<16xbf16>
  vector.store %b, %to[%c16] : memref<32xbf16>, vector<16xbf16>
  return
}
// One test for three: a pair and a single vector.
func.func @narrow_three(%x: vector<16xf32>, %y: vector<16xf32>, %z: vector<16xf32>) -> (vector<16xbf16>, vector<16xbf16>, vector<16xbf16>) {
  // CHECK-LABEL: @narrow_three
  // CHECK: scf.if {{.*}} -> (vector<32xi16>, vector<16xi16>)
  // CHECK-NOT: scf.if
  // CHECK: return
  %a = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  %b = arith.truncf %y : vector<16xf32> to vector<16xbf16>
  %c = arith.truncf %z : vector<16xf32> to vector<16xbf16>
  return %a, %b, %c : vector<16xbf16>, vector<16xbf16>, vector<16xbf16>
}
func.func @narrow_one_by_one(%x: vector<16xf32>, %y: vector<16xf32>, %to: memref<32xbf16>) {
  // CHECK-LABEL: @narrow_one_by_one
  // CHECK: scf.if
  // CHECK: vector.store
  // CHECK: scf.if
  // CHECK: vector.store
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  vector.store %a, %to[%c0] : memref<32xbf16>, vector<16xbf16>
  %b = arith.truncf %y : vector<16xf32> to vector<16xbf16>
  vector.store %b, %to[%c16] : memref<32xbf16>, vector<16xbf16>
  return
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
func.func @widen_pair(%x: vector<32xbf16>) -> (vector<16xf32>, vector<16xf32>) {
  // CHECK-LABEL: @widen_pair
  // INT-LABEL: @widen_pair
  // CHECK-NOT: permvar
  // CHECK: %[[WORDS:.*]] = vector.bitcast %{{.*}} : vector<32xi16> to vector<16xi32>
  // CHECK: arith.shli %[[WORDS]]
  // CHECK: arith.andi
  %even, %odd = vector.deinterleave %x : vector<32xbf16> -> vector<16xbf16>
  %a = arith.extf %even : vector<16xbf16> to vector<16xf32>
  %b = arith.extf %odd : vector<16xbf16> to vector<16xf32>
  return %a, %b : vector<16xf32>, vector<16xf32>
}
