// Checks 8-bit integers on both sides: vectors have the number of lanes of the f32 arithmetic, and the last lane of the
// row (81 = 5 · 16 + 1) is moved as a scalar.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: func.func @mean_kernel(%[[SRC:[^:]*]]: memref<405xi8> {quern.arg = "src"}, %[[DST:[^:]*]]: memref<405xi8> {quern.arg = "dst"}
// CHECK: vector.load %[[SRC]]{{.*}} vector<16xi8>
// CHECK: arith.sitofp {{.*}} vector<16xi8> to vector<16xf32>
// CHECK: arith.fptosi {{.*}} vector<16xf32> to vector<16xi32>
// CHECK: arith.trunci {{.*}} vector<16xi32> to vector<16xi8>
// CHECK: vector.store {{.*}}, %[[DST]]{{.*}} vector<16xi8>
// CHECK: memref.store {{.*}}, %[[DST]]

#full = affine_map<(r, c) -> (r, c)>
#perRow = affine_map<(r, c) -> (r)>
func.func @mean(%src: memref<5x81xi8> {quern.arg = "src"}, %dst: memref<5x81xi8> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %share = arith.constant 0.0625 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %sum = memref.alloc() : memref<5xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<5xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<5x81xi8>) outs(%sum : memref<5xf32>) {
  ^bb0(%x: i8, %s: f32):
    %f = arith.sitofp %x : i8 to f32
    %p = arith.mulf %f, %share : f32
    %r = arith.addf %p, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%src, %sum : memref<5x81xi8>, memref<5xf32>) outs(%dst : memref<5x81xi8>) {
  ^bb0(%x: i8, %s: f32, %out: i8):
    %f = arith.sitofp %x : i8 to f32
    %d = arith.subf %f, %s : f32
    %above = arith.maximumf %d, %low : f32
    %within = arith.minimumf %above, %high : f32
    %whole = math.roundeven %within : f32
    %i = arith.fptosi %whole : f32 to i32
    %y = arith.trunci %i : i32 to i8
    linalg.yield %y : i8
  }
  return
}
