// Input: products with open sizes whose weights have an open number of panels of 16 columns: in f32, and in bf16 with
// pairs of rows along K, the last of which may be incomplete. Checks that nothing is copied: the four vectors of a step
// are loaded from four panels, or from one in a tile that is not full. Sums have whole panels, so no element is written
// separately. Pairs are multiplied by one instruction if the target has it, with zeros in both factors after the last
// whole pair; otherwise each half is multiplied separately.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s --implicit-check-not=mask --implicit-check-not=linalg.
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --check-prefix=HALVES
// RUN: quern-opt %s --check --sizes=7,33,40,3,33,1056,7,48,50
// RUN: quern-opt %s --check --sizes=200,300,301,9,300,9600,200,144,144
// RUN: quern-opt %s --check --sizes=200,301,301,9,301,9632,200,144,144 --target=avx2
// RUN: quern-opt %s --check --sizes=13,1,1,1,1,32,13,16,16 --target=sse42
// CHECK: func.func @plain_kernel
// CHECK-SAME: factors = [3, 4, 0, 96]
// CHECK-SAME: plan = <contraction, rows = "?", columns = "?", panel = 16, products = 1, dot = "fma", accumulators = 1, max_block_rows = 6, block_vectors = 4, open_tile_width = 64, chunk_rows = 96, rhs = "read in place">
// CHECK-COUNT-4: vector.load {{.*}} memref<?xf32>, vector<16xf32>
// CHECK-COUNT-24: math.fma
// CHECK: func.func @pairs_kernel
// CHECK-SAME: products = 1, dot = "dots of bf16 pairs", accumulators = 1, max_block_rows = 6, block_vectors = 4
// CHECK-COUNT-4: vector.load {{.*}} memref<?xbf16>, vector<32xbf16>
// CHECK: vector.load {{.*}} memref<?xbf16>, vector<2xbf16>
// CHECK-COUNT-24: vector.contract
// CHECK: arith.andi {{.*}} : vector<16xi32>
// CHECK: vector.from_elements {{.*}} : vector<2xbf16>
// HALVES: func.func @pairs_kernel
// HALVES-SAME: products = 1, dot = "fma", accumulators = 1
#x = affine_map<(n, p, c, k) -> (n, k)>
#w = affine_map<(n, p, c, k) -> (p, k, c)>
#pairs = affine_map<(n, p, c, k) -> (p, k floordiv 2, c, k mod 2)>
#sums = affine_map<(n, p, c, k) -> (n, p * 16 + c)>
#kinds = ["parallel", "parallel", "parallel", "reduction"]
!sums = memref<?x?xf32, strided<[?, 1]>>
func.func @plain(%x: memref<?x?xf32, strided<[?, 1]>>, %w: memref<?x?x16xf32, strided<[?, 16, 1]>>, %sums: !sums) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : !sums)
  linalg.generic {indexing_maps = [#x, #w, #sums], iterator_types = #kinds}
      ins(%x, %w : memref<?x?xf32, strided<[?, 1]>>, memref<?x?x16xf32, strided<[?, 16, 1]>>) outs(%sums : !sums) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
func.func @pairs(%x: memref<?x?xbf16, strided<[?, 1]>> {quern.arg = "rows"}, %w: memref<?x?x16x2xbf16, strided<[?, 32, 2, 1]>> {quern.arg = "weights"},
                 %sums: !sums {quern.arg = "sums"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : !sums)
  linalg.generic {indexing_maps = [#x, #pairs, #sums], iterator_types = #kinds}
      ins(%x, %w : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?x16x2xbf16, strided<[?, 32, 2, 1]>>) outs(%sums : !sums) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %fa = arith.extf %a : bf16 to f32
    %fb = arith.extf %b : bf16 to f32
    %p = arith.mulf %fa, %fb fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
