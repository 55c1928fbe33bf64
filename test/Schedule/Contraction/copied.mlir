// Input: a product whose plain second factor does not fit in L2 at its strides. Checks that slices of K are copied,
// vector after vector; that all blocks of a chunk process one slice before the next, with their sums in scratch in the
// meantime; and that non-contiguous columns, which are loaded one by one, are loaded at most once per chunk.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core:l2=128 | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core:l2=128
// RUN: quern-opt %s --check --target=avx2:l2=64
// RUN: quern-opt %s --check --target=sse42:l2=64
// RUN: quern-opt %s --schedule --target=avx512_core:l2=1024 | FileCheck %s --check-prefix=NEAR
// RUN: sed 's/(m, n, k) -> (k, n)/(m, n, k) -> (n, k)/; s/memref<300x333xf32>/memref<333x300xf32>/g' %s > %t
// RUN: quern-opt %t --schedule --target=avx512_core:l2=128 | FileCheck %s --check-prefix=APART
// RUN: quern-opt %t --check --target=avx512_core:l2=128
// RUN: quern-opt %t --check --target=avx2
// CHECK: block_rows = 13, block_vectors = 2, short_block_rows = 12, tiles = 11, tile_width = 32, chunks = 1, copied = "rhs", copied_steps = 100, epilogue_ops = 1, epilogue_place = "over scratch", tail = "masked"
// CHECK: scf.for %{{.*}} = %arg4 to %arg5 step %c1 {
// CHECK: vector.store
// CHECK: scf.for %[[K:.*]] = %c0 to %c300 step %c100 {
// CHECK: scf.for %{{.*}} = %[[K]] to %[[END:.*]] step %c1 {
// CHECK: vector.maskedload
// CHECK: vector.store
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1 {
// CHECK: %{{.*}}:26 = scf.for %{{.*}} = %[[K]] to %[[END]] step %c1 iter_args
// CHECK-COUNT-26: math.fma
// NEAR-NOT: copied = "rhs"
// APART: copied = "rhs", copied_steps = 100
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
func.func @gemm(%a: memref<90x300xf32>, %b: memref<300x333xf32>, %c: memref<90x333xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %sums = memref.alloc() : memref<90x333xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<90x333xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<90x300xf32>, memref<300x333xf32>) outs(%sums : memref<90x333xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<90x333xf32>) outs(%c : memref<90x333xf32>) {
  ^bb0(%s: f32, %old: f32):
    %r = arith.mulf %s, %half : f32
    linalg.yield %r : f32
  }
  return
}
