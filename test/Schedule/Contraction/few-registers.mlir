// Input: a single row, for which AArch64 should have 20 sums in flight: five vectors for each of four accumulators.
// Checks that fewer are used if the registers cannot hold them together with an element of lhs and a vector of rhs, and
// that the problem is not refused.
// RUN: quern-opt %s --quern-schedule-contraction="target=neon" | FileCheck %s --check-prefix=ALL
// RUN: quern-opt %s --quern-schedule-contraction="target=neon registers=17" | FileCheck %s --check-prefix=FEW
// RUN: quern-opt %s --quern-schedule-contraction="registers=17" --check
// ALL: block_rows = 1, block_vectors = 20
// FEW: block_rows = 1, block_vectors = 12
func.func @sums(%a: memref<1x64xf32>, %b: memref<4x64x100xf32>, %c: memref<1x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<1x4x100xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<1x4x100xf32>)
  linalg.generic {indexing_maps = [affine_map<(n, g, v, k) -> (n, k)>, affine_map<(n, g, v, k) -> (g, k, v)>, affine_map<(n, g, v, k) -> (n, g, v)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x64xf32>, memref<4x64x100xf32>) outs(%sums : memref<1x4x100xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w fastmath<reassoc,contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n, v) -> (n, 0, v)>, affine_map<(n, v) -> (n, 1, v)>, affine_map<(n, v) -> (n, 2, v)>, affine_map<(n, v) -> (n, 3, v)>, affine_map<(n, v) -> (n, v)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %sums, %sums, %sums : memref<1x4x100xf32>, memref<1x4x100xf32>, memref<1x4x100xf32>, memref<1x4x100xf32>) outs(%c : memref<1x100xf32>) {
  ^bb0(%s0: f32, %s1: f32, %s2: f32, %s3: f32, %o: f32):
    %m0 = arith.maximumf %s0, %s1 : f32
    %m1 = arith.maximumf %s2, %s3 : f32
    %m = arith.maximumf %m0, %m1 : f32
    linalg.yield %m : f32
  }
  return
}
