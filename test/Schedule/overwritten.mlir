// Checks that an elementwise op loads the values that it overwrites as vectors from the same address, before the store.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %s --check --target=sse42 --tolerance=1e-30
// CHECK: func.func @accumulate_kernel(%[[X:[^:]*]]: memref<1600xf32> {quern.arg = "x"}, %[[SUM:[^:]*]]: memref<1600xf32>
// CHECK: vector.load %[[SUM]][%[[AT:.*]]]
// CHECK: arith.addf
// CHECK: vector.store %{{.*}}, %[[SUM]][%[[AT]]]

#full = affine_map<(r, c) -> (r, c)>
func.func @accumulate(%x: memref<16x100xf32> {quern.arg = "x"}, %sum: memref<16x100xf32> {quern.arg = "sum"}) {
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<16x100xf32>) outs(%sum : memref<16x100xf32>) {
  ^bb0(%v: f32, %old: f32):
    %prior = arith.mulf %old, %half : f32
    %r = arith.addf %v, %prior : f32
    linalg.yield %r : f32
  }
  return
}
