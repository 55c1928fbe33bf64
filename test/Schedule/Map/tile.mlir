// Checks that a transposition has tiles: four rows are read in pieces of 16 bytes into one vector, two stages of
// unpacks stay within 128-bit parts, and columns are stored from registers, all in loops and without scratch. If tiles
// do not divide the sizes, the last tile is shifted back (a minimum) and nothing is masked.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/square.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=SQUARE --implicit-check-not=linalg. --implicit-check-not=alloc --implicit-check-not=mask
// RUN: quern-opt %t/square.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=AVX2 --implicit-check-not=linalg. --implicit-check-not=alloc
// RUN: quern-opt %t/square.mlir --codegen --target=avx512_core | FileCheck %s --check-prefix=CODE --implicit-check-not=vperm --implicit-check-not=vpbroadcast
// RUN: quern-opt %t/square.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/square.mlir --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %t/square.mlir --check --target=sse42 --tolerance=1e-30
// RUN: quern-opt %t/odd.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ODD --implicit-check-not=mask --implicit-check-not=memref.store
// RUN: quern-opt %t/odd.mlir --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %t/odd.mlir --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %t/odd.mlir --check --target=sse42 --tolerance=1e-30
// RUN: quern-opt %t/bytes.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=BYTES --implicit-check-not=mask
// RUN: quern-opt %t/bytes.mlir --check --target=avx512_core
// RUN: quern-opt %t/bytes.mlir --check --target=sse42
// SQUARE: plan = <map, kind = "tiles", space = 1, tile_columns = 48, tile_rows = 16, moved = "f32", axes
// SQUARE: scf.for %{{.*}} = %c0 to %c48 step %c4 {
// SQUARE-COUNT-4: vector.load %{{.*}} vector<4xf32>
// SQUARE: vector.shuffle {{.*}} [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29]
// SQUARE-COUNT-4: vector.store {{.*}} vector<16xf32>
// AVX2: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13]
// CODE-COUNT-4: vunpcklps {{.*}}%zmm
// ODD: plan = <map, kind = "tiles"
// ODD: arith.minsi
// ODD: vector.store {{.*}} vector<8xf64>
// BYTES: plan = <map, kind = "tiles"{{.*}}moved = "i8"
// BYTES: memref.alloca() {alignment = 64 : i64} : memref<1024xi8>
// BYTES: vector.store {{.*}} vector<64xi8>

//--- square.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @square(%src: memref<64x48xf32> {quern.arg = "src"}, %dst: memref<64x48xf32, strided<[1, 64]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<64x48xf32>) outs(%dst : memref<64x48xf32, strided<[1, 64]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- odd.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @odd(%src: memref<101x83xf64> {quern.arg = "src"}, %dst: memref<101x83xf64, strided<[1, 101]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<101x83xf64>) outs(%dst : memref<101x83xf64, strided<[1, 101]>>) {
  ^bb0(%x: f64, %old: f64):
    linalg.yield %x : f64
  }
  return
}

//--- bytes.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @bytes(%src: memref<97x131xi8> {quern.arg = "src"}, %dst: memref<97x131xi8, strided<[1, 97]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<97x131xi8>) outs(%dst : memref<97x131xi8, strided<[1, 97]>>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  }
  return
}
