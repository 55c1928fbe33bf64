// Checks the oracle: scalar loops, intermediates in scratch, f32 widened to f64 and rounded only where the problem
// writes.
// RUN: quern-opt %s --naive | FileCheck %s --implicit-check-not=linalg --implicit-check-not=memref.alloc --implicit-check-not=vector
// CHECK: func.func @rows_kernel(%{{.*}}: memref<4x8xf32> {quern.arg = "src"}, %{{.*}}: memref<4xf32> {quern.arg = "dst"}, %[[SCRATCH:.*]]: memref<?xi8> {quern.scratch}, %{{.*}}: index, %{{.*}}: index)
// CHECK-SAME: scratch_bytes = 64, space = 1{{[,>]}}
// CHECK: memref.view %[[SCRATCH]]{{.*}} to memref<4xf64>
// CHECK: arith.extf {{.*}} : f32 to f64
// CHECK: arith.addf {{.*}} : f64
// CHECK: arith.truncf {{.*}} : f64 to f32
func.func @rows(%src: memref<4x8xf32> {quern.arg = "src"}, %dst: memref<4xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<4x8xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
      ins(%sum : memref<4xf32>) outs(%dst : memref<4xf32>) {
  ^bb0(%s: f32, %out: f32):
    linalg.yield %s : f32
  }
  return
}
