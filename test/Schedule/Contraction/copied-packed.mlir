// Input: a packed factor on a target without an instruction for packed products. Checks that copies keep the packed
// layout and that each element is converted in the loop.
// REQUIRES: compiler
// RUN: quern-opt %s --quern-schedule-contraction="slice-bytes=1024 max-stream-stride-bytes=16 min-copy-rows=2" --check --target=avx512_core
// RUN: quern-opt %s --quern-schedule-contraction="slice-bytes=1024 max-stream-stride-bytes=16 min-copy-rows=2" --target=avx512_core | FileCheck %s
// CHECK: products = 1, dot = "fma"
// CHECK-SAME: copied = "rhs", copied_steps =
// CHECK: vector.load {{.*}} : memref<{{.*}}xf16>, vector<32xf16>
// CHECK-NOT: arith.extf
// CHECK: vector.store {{.*}} : memref<{{.*}}xf16>, vector<32xf16>
#a = affine_map<(m, n, k, j) -> (m, k * 2 + j)>
#b = affine_map<(m, n, k, j) -> (k, n, j)>
#c = affine_map<(m, n, k, j) -> (m, n)>
func.func @packed(%a: memref<20x100xf32>, %b: memref<50x64x2xf16>, %c: memref<20x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<20x100xf32>, memref<50x64x2xf16>) outs(%c : memref<20x64xf32>) {
  ^bb0(%x: f32, %y: f16, %s: f32):
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %x, %w fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
