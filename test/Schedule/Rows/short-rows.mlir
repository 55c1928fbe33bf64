// Input: operands of each kind with rows that share a vector: the same elements for every row (loaded once, before the
// loop), one element per row (loaded and stored together, broadcast by a shuffle), and rows with gaps (moved lane by
// lane). Checks them against the linalg code with a partial last vector, with each way of masking.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=vector.reduction --implicit-check-not=alloc
// RUN: quern-opt %s --check
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: func.func @normalize_kernel(%[[X:[^:]*]]: {{[^,]*}}, %[[SCALE:[^:]*]]: {{[^,]*}}, %[[BIAS:[^:]*]]: {{[^,]*}}, %[[OUT:[^:]*]]: {{[^,]*}}, %[[MEAN:[^:]*]]:
// CHECK-SAME: rows_of_vector =
// CHECK: vector.maskedload %[[SCALE]]
// CHECK: scf.for %{{.*}} = %arg5 to %arg6 step %c1 {
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.shuffle
// CHECK: vector.maskedload %[[BIAS]]
// CHECK-DAG: vector.maskedstore %[[OUT]]
// CHECK-DAG: vector.maskedstore %[[MEAN]]

#full = affine_map<(row, col) -> (row, col)>
#perRow = affine_map<(row, col) -> (row)>
#perCol = affine_map<(row, col) -> (col)>
func.func @normalize(%x: memref<37x6xf32> {quern.arg = "x"}, %scale: memref<6xf32> {quern.arg = "scale"},
                     %bias: memref<37xf32> {quern.arg = "bias"}, %out: memref<37x6xf32> {quern.arg = "out"},
                     %mean: memref<37xf32> {quern.arg = "mean"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%mean : memref<37xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<37x6xf32>) outs(%mean : memref<37xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %r = arith.addf %in, %sum fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#full, #perRow, #perCol, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %scale, %bias : memref<37x6xf32>, memref<37xf32>, memref<6xf32>, memref<37xf32>) outs(%out : memref<37x6xf32>) {
  ^bb0(%in: f32, %m: f32, %s: f32, %b: f32, %o: f32):
    %d = arith.subf %in, %m : f32
    %p = arith.mulf %d, %s : f32
    %r = arith.addf %p, %b : f32
    linalg.yield %r : f32
  }
  return
}
