// Checks that few rows, or few columns, are whole vectors that are interleaved: three color planes to pixels and back,
// and pairs of rows of weights. Nothing goes through scratch or lane by lane.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/pixels.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=PIXELS --implicit-check-not=linalg. --implicit-check-not=alloc --implicit-check-not=memref.load
// RUN: quern-opt %t/pixels.mlir --check --target=avx512_core
// RUN: quern-opt %t/pixels.mlir --check --target=avx2
// RUN: quern-opt %t/pixels.mlir --check --target=sse42
// RUN: quern-opt %t/planes.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=PLANES --implicit-check-not=linalg. --implicit-check-not=alloc --implicit-check-not=memref.load
// RUN: quern-opt %t/planes.mlir --check --target=avx512_core
// RUN: quern-opt %t/planes.mlir --check --target=avx2
// RUN: quern-opt %t/planes.mlir --check --target=sse42
// RUN: quern-opt %t/pairs.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=PAIRS --implicit-check-not=linalg. --implicit-check-not=alloc
// RUN: quern-opt %t/pairs.mlir --check --target=avx512_core
// RUN: quern-opt %t/pairs.mlir --check --target=sse42
// PIXELS: plan = <map, kind = "tiles", space = 1, tile_columns = 16, tile_rows = 3, moved = "f32", network = "interleaved"
// PIXELS-COUNT-3: vector.load {{.*}} vector<16xf32>
// PIXELS-COUNT-6: vector.shuffle
// PIXELS-COUNT-3: vector.store {{.*}} vector<16xf32>
// PLANES: plan = <map, kind = "tiles", space = 1, tile_columns = 3, tile_rows = 16, moved = "i8", network = "deinterleaved", body = "after"
// PLANES-COUNT-3: vector.load {{.*}} vector<16xi8>
// PLANES-COUNT-3: vector.store {{.*}} vector<16xf32>
// PAIRS: plan = <map, kind = "tiles"{{.*}}tile_rows = 2, moved = "bf16", network = "interleaved"
// PAIRS: vector.shuffle {{.*}} [0, 32, 1, 33
// PAIRS: vector.store {{.*}} vector<32xbf16>

//--- pixels.mlir
#id = affine_map<(c, w) -> (c, w)>
func.func @pixels(%src: memref<3x100xf32> {quern.arg = "src"}, %dst: memref<3x100xf32, strided<[1, 3]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<3x100xf32>) outs(%dst : memref<3x100xf32, strided<[1, 3]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- planes.mlir
#id = affine_map<(c, w) -> (c, w)>
func.func @planes(%src: memref<3x100xi8, strided<[1, 3]>> {quern.arg = "src"}, %dst: memref<3x100xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<3x100xi8, strided<[1, 3]>>) outs(%dst : memref<3x100xf32>) {
  ^bb0(%x: i8, %old: f32):
    %i = arith.extui %x : i8 to i32
    %y = arith.sitofp %i : i32 to f32
    linalg.yield %y : f32
  }
  return
}

//--- pairs.mlir
#id = affine_map<(k, n) -> (k, n)>
#pairs = affine_map<(k, n) -> (n floordiv 64, k floordiv 2, n mod 64, k mod 2)>
func.func @pairs(%src: memref<32x128xbf16> {quern.arg = "src"}, %dst: memref<2x16x64x2xbf16> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #pairs], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<32x128xbf16>) outs(%dst : memref<2x16x64x2xbf16>) {
  ^bb0(%x: bf16, %old: bf16):
    linalg.yield %x : bf16
  }
  return
}
