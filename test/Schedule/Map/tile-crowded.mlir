// Checks tiles at strides of about a page. If the rows of the source are a page apart, a few of them fill a set of L1,
// and many rows and several cache lines of each are copied to scratch. If the columns of the destination are about a
// page apart and start within a cache line, a tile has many rows, so a cache line is complete before others of its set
// are written. A row of 1040 elements needs neither.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/rows.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ROWS
// RUN: quern-opt %t/rows.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/rows.mlir --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %t/columns.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=COLUMNS
// RUN: quern-opt %t/columns.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/columns.mlir --check --target=sse42 --tolerance=1e-30
// RUN: quern-opt %t/neither.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=NEITHER
// ROWS: plan = <map, kind = "tiles"{{.*}}tile_columns = 64, tile_rows = 112, moved = "f32", rows_in_scratch
// COLUMNS: plan = <map, kind = "tiles", {{.*}}tile_columns = 16, tile_rows = 128, moved = "f32", axes
// NEITHER: plan = <map, kind = "tiles", {{.*}}tile_columns = 16, tile_rows = 16, moved = "f32", {{(prefetch|axes)}}

//--- rows.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @rows(%src: memref<200x1024xf32> {quern.arg = "src"}, %dst: memref<200x1024xf32, strided<[1, 200]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<200x1024xf32>) outs(%dst : memref<200x1024xf32, strided<[1, 200]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- columns.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @columns(%src: memref<1023x69xf32> {quern.arg = "src"}, %dst: memref<1023x69xf32, strided<[1, 1023]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<1023x69xf32>) outs(%dst : memref<1023x69xf32, strided<[1, 1023]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- neither.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @neither(%src: memref<208x1040xf32> {quern.arg = "src"}, %dst: memref<208x1040xf32, strided<[1, 208]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<208x1040xf32>) outs(%dst : memref<208x1040xf32, strided<[1, 208]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
