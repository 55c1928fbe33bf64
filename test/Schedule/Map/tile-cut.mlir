// Checks that tiles do not overlap if the destination is read: the last tile is cut. In `cut` it has one of a tile's 16
// rows, and each row of 15 elements is read separately, in pieces, under a condition. In `several` a column is several
// vectors long, and a vector whose lanes are all beyond the destination is skipped instead of masked.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/cut.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=CUT
// RUN: quern-opt %t/cut.mlir --check --target=avx512_core
// RUN: quern-opt %t/cut.mlir --check --target=avx2
// RUN: quern-opt %t/several.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=SEVERAL
// RUN: quern-opt %t/several.mlir --check --target=avx512_core
// RUN: quern-opt %t/several.mlir --check --target=avx2
// CUT: plan = <map, kind = "tiles", space = 1, tile_columns = 15, tile_rows = 16, moved = "f32", body = "after", rows_in_scratch
// CUT: scf.for %{{.*}} = %c0 to %c16 step %c2 {
// CUT: scf.if
// CUT-NEXT: vector.load {{.*}} vector<8xf32>
// CUT: vector.load {{.*}} vector<4xf32>
// CUT: vector.load {{.*}} vector<2xf32>
// CUT: vector.load {{.*}} vector<1xf32>
// SEVERAL: plan = <map, kind = "tiles"{{.*}}tile_rows = 64, moved = "i8", body = "after"{{.*}}columns_in_scratch
// SEVERAL: scf.for %{{.*}} = %c0 to %c64 step %c16 {
// SEVERAL: %[[ANY:.*]] = arith.cmpi sgt
// SEVERAL-NEXT: scf.if %[[ANY]] {
// SEVERAL: vector.maskedload {{.*}} vector<16xf32>
// SEVERAL: vector.maskedstore {{.*}} vector<16xf32>

//--- cut.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @cut(%src: memref<17x15xf32> {quern.arg = "src"}, %dst: memref<17x15xf32, strided<[1, 17]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<17x15xf32>) outs(%dst : memref<17x15xf32, strided<[1, 17]>>) {
  ^bb0(%x: f32, %old: f32):
    %sum = arith.addf %x, %old : f32
    linalg.yield %sum : f32
  }
  return
}

//--- several.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @several(%src: memref<65x70xi8> {quern.arg = "src"}, %dst: memref<65x70xf32, strided<[1, 65]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<65x70xi8>) outs(%dst : memref<65x70xf32, strided<[1, 65]>>) {
  ^bb0(%x: i8, %old: f32):
    %wide = arith.sitofp %x : i8 to f32
    %sum = arith.addf %wide, %old : f32
    linalg.yield %sum : f32
  }
  return
}
