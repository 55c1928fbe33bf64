// Where rows lie a page apart in the source, a few of them fill a set of the first cache: one wants to see many rows and several lines of
// each copied to scratch. Where columns lie about a page apart in the destination and begin in the middle of lines, one wants to see many
// rows, so that a line is done before others of its set come. A row of 1040 elements does neither.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/rows.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ROWS
// RUN: quern-opt %t/rows.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/rows.mlir --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %t/columns.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=COLUMNS
// RUN: quern-opt %t/columns.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/columns.mlir --check --target=sse42 --tolerance=1e-30
// RUN: quern-opt %t/neither.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=NEITHER
// ROWS: plan = "map: tiles, {{.*}}, 64 x 112 of f32, rows through scratch
// COLUMNS: plan = "map: tiles, {{.*}}, 16 x 128 of f32, axes
// NEITHER: plan = "map: tiles, {{.*}}, 16 x 16 of f32, {{(prefetch|axes)}}

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
