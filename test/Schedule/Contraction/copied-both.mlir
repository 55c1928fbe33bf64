// A gradient of weights: rows of the left factor lie side by side, K is long, and what the product gives is added to a buffer. One wants
// to see both factors copied by parts of K, that of the left one once for several tiles, sums in scratch between parts, and a loop over
// K that reads nothing but copies.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core:l2=128 | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core:l2=128
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2:l2=64
// RUN: quern-opt %s --check --target=sse42:l2=64
// Of bf16 copies are pairs of steps, whose last has one element and a zero; without dots of pairs they are f32, converted once.
// RUN: sed 's/x90xf32/x90xbf16/g; s/301x333xf32/301x333xbf16/g; s/%x: f32, %y: f32/%xs: bf16, %ys: bf16/; s,// short: ,,' %s > %t
// RUN: quern-opt %t --schedule --target=avx512_core_bf16:l2=128 | FileCheck %s --check-prefix=PAIRS
// RUN: quern-opt %t --schedule --target=avx512_core:l2=128 | FileCheck %s --check-prefix=WIDE
// RUN: quern-opt %t --check --target=avx512_core_bf16:l2=128
// RUN: quern-opt %t --check --target=avx512_core_bf16
// RUN: quern-opt %t --check --target=avx512_core:l2=128
// RUN: quern-opt %t --check --target=avx2:l2=64
// RUN: quern-opt %t --check --target=sse42:l2=64
// Rounding that the op allows is done in the copies, too.
// RUN: sed 's/iterator_types = \(.*\)}$/iterator_types = \1, quern.may_round = "bf16"}/' %s > %t.rounded
// CHECK: 90x333, 1 product by fma
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
