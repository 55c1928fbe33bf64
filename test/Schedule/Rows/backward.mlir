// Checks that one reduction of a product and one map are two sweeps: both operands are read twice, in-place execution
// is allowed, and the product is contracted as its flag permits.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg. --implicit-check-not=quern.scratch
// RUN: quern-opt %s --check --target=avx2
// CHECK: func.func @softmax_backward_kernel(%[[D:[^:]*]]: memref<1024000xf32> {{.*}}, %[[DD:[^:]*]]: memref<1024000xf32> {{.*}}, %[[DS:[^:]*]]: memref<1024000xf32>
// CHECK-SAME: plan = <rows, ops = 2, sweeps = 2
// CHECK: vector.load %[[D]]{{.*}} vector<8xf32>
// CHECK: vector.load %[[DD]]{{.*}} vector<8xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
// CHECK: vector.reduction <add>
// CHECK: scf.for %{{.*}} = %c0 to %c992 step %c16 {
// CHECK: vector.load %[[DD]]
// CHECK: arith.subf
// CHECK: vector.store {{.*}}, %[[DS]]

#full = affine_map<(row, col) -> (row, col)>
#perRow = affine_map<(row, col) -> (row)>
func.func @softmax_backward(%dst: memref<1024x1000xf32> {quern.arg = "dst"}, %diffDst: memref<1024x1000xf32> {quern.arg = "diff_dst"},
                            %diffSrc: memref<1024x1000xf32> {quern.arg = "diff_src"}) {
  %zero = arith.constant 0.0 : f32
  %dot = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%dot : memref<1024xf32>)
  linalg.generic {indexing_maps = [#full, #full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%dst, %diffDst : memref<1024x1000xf32>, memref<1024x1000xf32>) outs(%dot : memref<1024xf32>) {
  ^bb0(%d: f32, %dd: f32, %s: f32):
    %p = arith.mulf %d, %dd fastmath<contract> : f32
    %r = arith.addf %p, %s fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#full, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%dst, %diffDst, %dot : memref<1024x1000xf32>, memref<1024x1000xf32>, memref<1024xf32>) outs(%diffSrc : memref<1024x1000xf32>) {
  ^bb0(%d: f32, %dd: f32, %s: f32, %out: f32):
    %t = arith.subf %dd, %s : f32
    %r = arith.mulf %d, %t : f32
    linalg.yield %r : f32
  }
  return
}
