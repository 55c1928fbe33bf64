// Checks tiles with blocks: channels that do not fill a block are stored as zeros in the same stores, by a condition on
// the row and without masks; weights in blocks within blocks (4 inputs of each of 16 outputs) read their short rows
// together with the elements that follow them; and a conversion happens on the narrower side of the transposition. A
// tile whose lanes are all beyond a limit writes nothing.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/padded.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=PADDED --implicit-check-not=linalg. --implicit-check-not=mask
// RUN: quern-opt %t/padded.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/padded.mlir --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %t/padded.mlir --check --target=sse42 --tolerance=1e-30
// RUN: quern-opt %t/weights.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=WEIGHTS --implicit-check-not=linalg. --implicit-check-not=mask
// RUN: quern-opt %t/weights.mlir --check --target=avx512_core
// RUN: quern-opt %t/weights.mlir --check --target=avx2
// RUN: quern-opt %t/weights.mlir --check --target=sse42
// RUN: quern-opt %t/widen.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=WIDEN --implicit-check-not=linalg.
// RUN: quern-opt %t/widen.mlir --check --target=avx512_core
// RUN: quern-opt %t/widen.mlir --check --target=sse42
// RUN: quern-opt %t/beyond.mlir --check --target=avx512_core
// RUN: quern-opt %t/beyond.mlir --check --target=avx2
// PADDED: plan = <map, kind = "tiles"{{.*}}rows_in_scratch{{.*}}limits = 1, writes_padding
// PADDED: scf.if
// PADDED: } else {
// PADDED: vector.store %cst
// PADDED-COUNT-4: vector.store {{.*}} vector<16xf32>
// WEIGHTS: plan = <map, kind = "tiles", {{.*}}tile_columns = 9, tile_rows = 64, moved = "i8", body = "before", rows_in_scratch, adjacent =
// WEIGHTS: arith.fptosi {{.*}} vector<16xf32> to vector<16xi32>
// WEIGHTS: vector.store {{.*}} vector<64xi8>
// WIDEN: plan = <map, kind = "tiles"{{.*}}moved = "bf16", body = "after", columns_in_scratch
// WIDEN: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>

//--- padded.mlir
#id = affine_map<(n, c, w) -> (n, c, w)>
#blocked = affine_map<(n, c, w) -> (n, c floordiv 16, w, c mod 16)>
func.func @padded(%src: memref<3x19x40xf32> {quern.arg = "src"}, %dst: memref<3x2x40x16xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dst : memref<3x2x40x16xf32>)
  linalg.generic {indexing_maps = [#id, #blocked], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src : memref<3x19x40xf32>) outs(%dst : memref<3x2x40x16xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- weights.mlir
#id = affine_map<(o, i, k) -> (o, i, k)>
#blocked = affine_map<(o, i, k) -> (o floordiv 16, i floordiv 16, k, (i mod 16) floordiv 4, o mod 16, i mod 4)>
func.func @weights(%src: memref<32x32x9xf32> {quern.arg = "src"}, %dst: memref<2x2x9x4x16x4xi8> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #blocked], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src : memref<32x32x9xf32>) outs(%dst : memref<2x2x9x4x16x4xi8>) {
  ^bb0(%x: f32, %old: i8):
    %i = arith.fptosi %x : f32 to i32
    %y = arith.trunci %i : i32 to i8
    linalg.yield %y : i8
  }
  return
}

//--- widen.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @widen(%src: memref<70x90xbf16> {quern.arg = "src"}, %dst: memref<70x90xf32, strided<[1, 70]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<70x90xbf16>) outs(%dst : memref<70x90xf32, strided<[1, 70]>>) {
  ^bb0(%x: bf16, %old: f32):
    %y = arith.extf %x : bf16 to f32
    linalg.yield %y : f32
  }
  return
}

//--- beyond.mlir
#blocked = affine_map<(a, b, c, d) -> (a, b floordiv 4, c floordiv 48, d, c mod 48, b mod 4)>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @beyond(%src: memref<2x2x2x4x48x4xf64, strided<[3072, 192, 1536, 384, 4, 1]>> {quern.arg = "src"},
                  %dst: memref<2x7x49x4xf64, strided<[196, 392, 4, 1]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#blocked, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%src : memref<2x2x2x4x48x4xf64, strided<[3072, 192, 1536, 384, 4, 1]>>) outs(%dst : memref<2x7x49x4xf64, strided<[196, 392, 4, 1]>>) {
  ^bb0(%x: f64, %old: f64):
    linalg.yield %x : f64
  }
  return
}
