// Input: rows along a dim other than the blocked one, with blocks of 16 of which the last is not full (20 = 16 + 4).
// Checks that there is one body with whole vectors along the block, under a mask that is computed at the start of the
// block, and one iteration per block, none of them empty.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg. --implicit-check-not=quern.scratch --implicit-check-not=scf.if
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: func.func @mean_kernel(%[[SRC:[^:]*]]: memref<224xf32> {quern.arg = "src"}, %[[DST:[^:]*]]: memref<224xf32> {quern.arg = "dst"}
// CHECK-SAME: space = 2{{[,>]}}
// CHECK: scf.for %{{.*}} = %arg2 to %arg3 step %c1 {
// CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<16xi32>
// CHECK: vector.maskedload %[[SRC]]{{.*}}, %[[MASK]]
// CHECK: vector.maskedload %[[SRC]]{{.*}}, %[[MASK]]
// CHECK: vector.maskedstore %[[DST]]{{.*}}, %[[MASK]]

#id = affine_map<(c, w) -> (c, w)>
#full = affine_map<(c, w) -> (c floordiv 16, w, c mod 16)>
#perRow = affine_map<(c, w) -> (c)>
func.func @mean(%src: memref<2x7x16xf32> {quern.arg = "src"}, %dst: memref<2x7x16xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<20x7xi8>
  %sum = memref.alloc() : memref<20xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<20xf32>)
  linalg.generic {indexing_maps = [#id, #full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<20x7xi8>, memref<2x7x16xf32>) outs(%sum : memref<20xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src, %sum : memref<20x7xi8>, memref<2x7x16xf32>, memref<20xf32>) outs(%dst : memref<2x7x16xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32, %out: f32):
    %y = arith.subf %x, %s : f32
    linalg.yield %y : f32
  }
  return
}
