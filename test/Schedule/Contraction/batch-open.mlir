// Input: a batch of open size whose products have an open number of rows. Checks that the kernel of one product, with
// its open rows, is placed in a loop over the batch: the space is the number of chunks of one product times the batch
// size.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --sizes=3,20,640,3,3,20,960
// RUN: quern-opt %s --check --sizes=1,70,2240,1,1,70,3360 --target=avx2
// RUN: quern-opt %s --check --sizes=4,1,32,4,4,1,48 --target=sse42
// CHECK: func.func @scores_kernel
// CHECK-SAME: factors = [1, {{[0-9]+}}, 0, 1]
// CHECK-SAME: plan = <contraction, times = "?", rows = "?", columns = 48
// CHECK: %[[ROWS:.*]] = memref.load %{{.*}}[%c1
// CHECK: %[[OF_ONE:.*]] = arith.divui
// CHECK: %[[OF_ALL:.*]] = arith.muli %{{.*}}, %[[OF_ONE]]
// CHECK: %[[FIRST:.*]] = arith.divui %{{.*}}, %[[OF_ALL]]
// CHECK: %[[LAST:.*]] = arith.divui %{{.*}}, %[[OF_ALL]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c1{{.*}} {
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [%{{.*}}], strides: [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
// CHECK: math.fma
#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
func.func @scores(%x: memref<?x?x32xf32, strided<[?, 32, 1]>> {quern.arg = "x"}, %w: memref<?x32x48xf32> {quern.arg = "w"}, %y: memref<?x?x48xf32, strided<[?, 48, 1]>> {quern.arg = "y"})
    attributes {quern.size_indices = array<i64: 0, 1, 2, 0, 0, 1, 6>} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x32xf32, strided<[?, 32, 1]>>
  %rows = memref.dim %x, %c1 : memref<?x?x32xf32, strided<[?, 32, 1]>>
  %sums = memref.alloc(%batch, %rows) : memref<?x?x48xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<?x?x48xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x?x32xf32, strided<[?, 32, 1]>>, memref<?x32x48xf32>) outs(%sums : memref<?x?x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %p, %s fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sums : memref<?x?x48xf32>) outs(%y : memref<?x?x48xf32, strided<[?, 48, 1]>>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  }
  return
}
