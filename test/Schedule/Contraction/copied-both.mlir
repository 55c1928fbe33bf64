// Input: a gradient of weights. The rows of the left factor are contiguous, K is long, and the product is added to a
// buffer. Checks that slices of K of both factors are copied, the left one once for several tiles; that sums are in
// scratch between slices; and that the loop over K reads only copies.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core:l2=128 | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core:l2=128
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --schedule --target=avx2:l2=64 | FileCheck %s --check-prefix=TILES
// RUN: quern-opt %s --check --target=avx2:l2=64
// RUN: quern-opt %s --check --target=sse42:l2=64
// For bf16, copies are pairs of steps, and the last pair has one element and a zero. If the target has no instruction
// that adds pairs, copies are f32, converted once.
// RUN: sed 's/x90xf32/x90xbf16/g; s/301x333xf32/301x333xbf16/g; s/%x: f32, %y: f32/%xs: bf16, %ys: bf16/; s,// short: ,,' %s > %t
// RUN: quern-opt %t --schedule --target=avx512_core_bf16:l2=128 | FileCheck %s --check-prefix=PAIRS
// RUN: quern-opt %t --check --target=avx512_core_bf16:l2=128
// RUN: quern-opt %t --check --target=avx512_core_bf16
// RUN: sed 's/333/633/g' %t > %t.wide
// RUN: quern-opt %t.wide --schedule --target=avx512_core:l2=128 | FileCheck %s --check-prefix=WIDE
// RUN: quern-opt %t.wide --check --target=avx512_core:l2=128
// RUN: quern-opt %t.wide --check --target=avx2:l2=64
// RUN: quern-opt %t.wide --check --target=sse42:l2=64
// Factors that the op allows to be rounded to bf16 are rounded once, in the copies.
// RUN: sed 's/\(outs(.*)\) {$/\1 attrs = {quern.relax = #quern.relax<bf16>} {/' %s > %t.rounded
// RUN: quern-opt %t.rounded --schedule --target=avx512_core_bf16:l2=128 | FileCheck %s --check-prefix=ROUNDED
// RUN: quern-opt %t.rounded --check --target=avx512_core_bf16:l2=128
// RUN: quern-opt %t.rounded --check --target=avx512_core:l2=128
// CHECK: rows = 90, columns = 333, products = 1, dot = "fma"
// CHECK-SAME: copied = "factors", copied_steps = 151, shared_tiles = {{[0-9]+}}, tail = "masked"
// CHECK: scf.for %[[K:.*]] = %c0 to %c301 step %c151 {
// CHECK: scf.for %{{.*}} = %[[K]] to %[[END:.*]] step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c16 {
// CHECK: vector.load
// CHECK-NEXT: arith
// CHECK: vector.store
// CHECK: scf.for %{{.*}} = %[[K]] to %[[END]] step %c1 {
// CHECK: vector.maskedload
// CHECK: vector.store
// CHECK: %{{.*}}:26 = scf.for %{{.*}} = %[[K]] to %[[END]] step %c1 iter_args
// CHECK-NOT: vector.maskedload
// CHECK-COUNT-26: math.fma
// TILES: copied = "factors", copied_steps = 151, shared_tiles = {{.*}}
// PAIRS: products = 1, dot = "dots of bf16 pairs"
// PAIRS-SAME: copied = "factors", in_pairs, copied_steps = 151
// PAIRS: arith.extui {{.*}} : vector<16xi16> to vector<16xi32>
// PAIRS: %{{.*}}:20 = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 iter_args
// PAIRS: vector.load {{.*}} vector<2xbf16>
// PAIRS: vector.contract
// WIDE: copied = "factors", copied_steps = 101
// WIDE: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// WIDE: %{{.*}} = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 iter_args
// WIDE-NOT: arith.extf
// WIDE: math.fma
// ROUNDED: products = 1, dot = "dots of bf16 pairs"
// ROUNDED: arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
// ROUNDED: %{{.*}}:26 = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 iter_args
// ROUNDED-NOT: arith.truncf
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @outer(%a: memref<301x90xf32>, %b: memref<301x333xf32>, %c: memref<90x333xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<301x90xf32>, memref<301x333xf32>) outs(%c : memref<90x333xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    // short: %x = arith.extf %xs : bf16 to f32
    // short: %y = arith.extf %ys : bf16 to f32
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
