// Checks that the recipe is not specific to softmax: it supports two dependent reductions in three sweeps, with row
// arithmetic between them, operands that vary only along the row and two outputs per row, and stores nothing between
// the sweeps.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=memref.copy --implicit-check-not=linalg. --implicit-check-not=quern.scratch
// RUN: quern-opt %s --check
// CHECK: func.func @layernorm_kernel(%[[SRC:[^:]*]]: memref<786432xf32> {quern.arg = "src"}, %[[GAMMA:[^:]*]]: memref<768xf32> {quern.arg = "scale"}, %[[BETA:[^:]*]]: memref<768xf32> {quern.arg = "shift"}, %[[DST:[^:]*]]: memref<786432xf32> {quern.arg = "dst"}, %[[MEAN:[^:]*]]: memref<1024xf32> {quern.arg = "mean"}, %[[VARIANCE:[^:]*]]: memref<1024xf32> {quern.arg = "variance"}
// CHECK-SAME: plan = <rows, ops = 5, sweeps = 3, space = 1024, along_row
// CHECK: scf.for %[[ROW:.*]] = %arg6 to %arg7 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c768 step %c48 iter_args
// CHECK: vector.load %[[SRC]]
// CHECK: vector.reduction <add>
// CHECK: arith.mulf
// CHECK: scf.for %{{.*}} = %c0 to %c768 step %c48 iter_args
// CHECK: vector.load %[[SRC]]
// CHECK: arith.subf
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: vector.reduction <add>
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK: scf.for %{{.*}} = %c0 to %c768 step %c32 {
// CHECK: vector.load %[[SRC]]
// CHECK: vector.load %[[GAMMA]]
// CHECK: vector.load %[[BETA]]
// CHECK: vector.store {{.*}}, %[[DST]]
// CHECK: memref.store {{.*}}, %[[MEAN]][%[[ROW]]]
// CHECK: memref.store {{.*}}, %[[VARIANCE]][%[[ROW]]]
// CHECK: return

#full = affine_map<(row, col) -> (row, col)>
#perRow = affine_map<(row, col) -> (row)>
#perCol = affine_map<(row, col) -> (col)>
#row = affine_map<(row) -> (row)>
func.func @layernorm(%src: memref<1024x768xf32> {quern.arg = "src"}, %gamma: memref<768xf32> {quern.arg = "scale"}, %beta: memref<768xf32> {quern.arg = "shift"},
                     %dst: memref<1024x768xf32> {quern.arg = "dst"}, %mean: memref<1024xf32> {quern.arg = "mean"}, %variance: memref<1024xf32> {quern.arg = "variance"}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inverseN = arith.constant 0.00130208337 : f32
  %eps = arith.constant 1.0e-05 : f32
  %sum = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<1024x768xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%sum : memref<1024xf32>) outs(%mean : memref<1024xf32>) {
  ^bb0(%s: f32, %out: f32):
    %r = arith.mulf %s, %inverseN : f32
    linalg.yield %r : f32
  }
  %squares = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%squares : memref<1024xf32>)
  linalg.generic {indexing_maps = [#full, #perRow, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%src, %mean : memref<1024x768xf32>, memref<1024xf32>) outs(%squares : memref<1024xf32>) {
  ^bb0(%x: f32, %m: f32, %s: f32):
    %d = arith.subf %x, %m : f32
    %p = arith.mulf %d, %d fastmath<contract> : f32
    %r = arith.addf %p, %s fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %inverse = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%squares : memref<1024xf32>) outs(%variance, %inverse : memref<1024xf32>, memref<1024xf32>) {
  ^bb0(%s: f32, %out: f32, %out2: f32):
    %v = arith.mulf %s, %inverseN : f32
    %ve = arith.addf %v, %eps : f32
    %root = math.sqrt %ve : f32
    %r = arith.divf %one, %root : f32
    linalg.yield %v, %r : f32, f32
  }
  linalg.generic {indexing_maps = [#full, #perRow, #perRow, #perCol, #perCol, #full], iterator_types = ["parallel", "parallel"]}
      ins(%src, %mean, %inverse, %gamma, %beta : memref<1024x768xf32>, memref<1024xf32>, memref<1024xf32>, memref<768xf32>, memref<768xf32>)
      outs(%dst : memref<1024x768xf32>) {
  ^bb0(%x: f32, %m: f32, %i: f32, %g: f32, %b: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %n = arith.mulf %d, %i : f32
    %s = arith.mulf %n, %g fastmath<contract> : f32
    %y = arith.addf %s, %b fastmath<contract> : f32
    linalg.yield %y : f32
  }
  return
}
