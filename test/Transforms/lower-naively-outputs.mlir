// Checks that the oracle's sums in an f32 argument are computed in f64, like those in intermediates, from the initial
// contents of the argument, and rounded once.
// RUN: quern-opt %s --naive | FileCheck %s --implicit-check-not=linalg --implicit-check-not=vector
// CHECK: %[[SUMS:.*]] = memref.view {{.*}} to memref<4xf64>
// CHECK: arith.extf {{.*}} : f32 to f64
// CHECK: memref.store {{.*}}, %[[SUMS]]
// CHECK: arith.addf {{.*}} : f64
// CHECK-NEXT: memref.store {{.*}}, %[[SUMS]]
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: memref.store {{.*}} : memref<4xf32>
func.func @sums(%src: memref<4x8xf32> {quern.arg = "src"}, %dst: memref<4xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<4x8xf32>) outs(%dst : memref<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}
