// Input: a row in blocks of 8 on vectors of 16 lanes. Checks that a vector is two loads joined in registers, and two
// stores. The last vector has half a block, whose lanes are moved one by one.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg. --implicit-check-not=quern.scratch
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// CHECK: func.func @mean_kernel(%[[SRC:[^:]*]]: memref<{{[0-9]+}}xf32> {quern.arg = "src"}, %[[DST:[^:]*]]: memref<{{[0-9]+}}xf32> {quern.arg = "dst"}
// CHECK-SAME: along_row
// CHECK: vector.load %[[SRC]]{{.*}} vector<8xf32>
// CHECK: vector.load %[[SRC]]{{.*}} vector<8xf32>
// CHECK: vector.shuffle
// CHECK-COUNT-4: memref.load %[[SRC]]
// CHECK: vector.store {{.*}}, %[[DST]]{{.*}} vector<8xf32>
// CHECK: vector.store {{.*}}, %[[DST]]{{.*}} vector<8xf32>
// CHECK-COUNT-4: memref.store {{.*}}, %[[DST]]

#id = affine_map<(w, c) -> (w, c)>
#full = affine_map<(w, c) -> (c floordiv 8, w, c mod 8)>
#perRow = affine_map<(w, c) -> (w)>
func.func @mean(%src: memref<14x5x8xf32> {quern.arg = "src"}, %dst: memref<14x5x8xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<5x108xi8>
  %sum = memref.alloc() : memref<5xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<5xf32>)
  linalg.generic {indexing_maps = [#id, #full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<5x108xi8>, memref<14x5x8xf32>) outs(%sum : memref<5xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src, %sum : memref<5x108xi8>, memref<14x5x8xf32>, memref<5xf32>) outs(%dst : memref<14x5x8xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32, %out: f32):
    %y = arith.subf %x, %s : f32
    linalg.yield %y : f32
  }
  return
}
