// Input: bodies that read loop indices, which are operands without memory. Checks that an index along the contiguous
// dim is a number plus a constant per lane, and along other loops one number for all lanes. This holds for a loop that
// is split at the destination's blocks, for blocks that are not full, for transpositions of other operands and for
// single elements. Axes that are contiguous in memory stay separate if an index does not continue across them.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/flat.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=FLAT --implicit-check-not=linalg.
// RUN: quern-opt %t/flat.mlir --check --target=avx512_core
// RUN: quern-opt %t/flat.mlir --check --target=sse41
// RUN: quern-opt %t/rows.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ROWS --implicit-check-not=linalg.
// RUN: quern-opt %t/rows.mlir --check --target=avx512_core
// RUN: quern-opt %t/blocks.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=BLOCKS --implicit-check-not=linalg.
// RUN: quern-opt %t/blocks.mlir --check --target=avx512_core
// RUN: quern-opt %t/blocks.mlir --check --target=avx2
// RUN: quern-opt %t/tile.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=TILE --implicit-check-not=linalg.
// RUN: quern-opt %t/tile.mlir --check --target=avx512_core
// RUN: quern-opt %t/tile.mlir --check --target=avx2
// RUN: quern-opt %t/apart.mlir --check --target=avx512_core
// RUN: not quern-opt %t/sum.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=SUM
// FLAT: plan = <map, kind = "lines"{{.*}}lanes = 8
// FLAT: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xindex>
// FLAT: scf.for %[[I:.*]] = %c0 to %c992 step %c16 {
// FLAT: %[[FIRST:.*]] = vector.broadcast %[[I]] : index to vector<8xindex>
// FLAT: %[[AT:.*]] = arith.addi %[[FIRST]], %[[LANES]] : vector<8xindex>
// FLAT: arith.index_cast %[[AT]] : vector<8xindex> to vector<8xi64>
// ROWS: axes = "19({{.*}} 40(
// ROWS: %[[ROW:.*]] = vector.broadcast %{{.*}} : index to vector<16xindex>
// ROWS: arith.index_cast %[[ROW]] : vector<16xindex> to vector<16xi32>
// BLOCKS: plan = <map, kind = "lines"{{.*}}limits = 1
// TILE: plan = <map, kind = "tiles"
// SUM: rows: an accumulator does not start from a neutral constant

//--- flat.mlir
func.func @flat(%dst: memref<1003xi8> {quern.arg = "dst"}) {
  %three = arith.constant 3 : i64
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>], iterator_types = ["parallel"]} outs(%dst : memref<1003xi8>) {
  ^bb0(%old: i8):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %square = arith.muli %i, %i : i64
    %mixed = arith.xori %square, %three : i64
    %byte = arith.trunci %mixed : i64 to i8
    linalg.yield %byte : i8
  }
  return
}

//--- rows.mlir
#id = affine_map<(n, c) -> (n, c)>
func.func @rows(%src: memref<19x40xf32> {quern.arg = "src"}, %dst: memref<19x40xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<19x40xf32>) outs(%dst : memref<19x40xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %y = arith.addf %x, %f : f32
    linalg.yield %y : f32
  }
  return
}

//--- blocks.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> (c floordiv 16, n, c mod 16)>
func.func @blocks(%src: memref<10x41xf32> {quern.arg = "src"}, %dst: memref<3x10x16xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<10x41xf32>) outs(%dst : memref<3x10x16xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %forty = arith.constant 41 : index
    %row = arith.muli %n, %forty : index
    %at = arith.addi %row, %c : index
    %i = arith.index_cast %at : index to i32
    %f = arith.sitofp %i : i32 to f32
    %y = arith.mulf %x, %f : f32
    linalg.yield %y : f32
  }
  return
}

//--- tile.mlir
#src = affine_map<(n, c) -> (c, n)>
#dst = affine_map<(n, c) -> (n, c)>
func.func @tile(%src: memref<83x67xf32> {quern.arg = "src"}, %dst: memref<67x83xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<83x67xf32>) outs(%dst : memref<67x83xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = arith.index_cast %n : index to i32
    %j = arith.index_cast %c : index to i32
    %k = arith.muli %i, %j : i32
    %f = arith.sitofp %k : i32 to f32
    %y = arith.addf %x, %f : f32
    linalg.yield %y : f32
  }
  return
}

//--- apart.mlir
#id = affine_map<(n, c) -> (n, c)>
func.func @apart(%src: memref<7x9xf32, strided<[40, 3]>> {quern.arg = "src"}, %dst: memref<7x9xf32, strided<[50, 2]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<7x9xf32, strided<[40, 3]>>) outs(%dst : memref<7x9xf32, strided<[50, 2]>>) {
  ^bb0(%x: f32, %old: f32):
    %c = linalg.index 1 : index
    %j = arith.index_cast %c : index to i32
    %f = arith.sitofp %j : i32 to f32
    %y = arith.subf %x, %f : f32
    linalg.yield %y : f32
  }
  return
}

//--- sum.mlir
func.func @sum(%src: memref<19x40xf32> {quern.arg = "src"}, %dst: memref<19xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<19x40xf32>) outs(%dst : memref<19xf32>) {
  ^bb0(%x: f32, %old: f32):
    %c = linalg.index 1 : index
    %j = arith.index_cast %c : index to i32
    %f = arith.sitofp %j : i32 to f32
    %t = arith.mulf %x, %f : f32
    %y = arith.addf %t, %old : f32
    linalg.yield %y : f32
  }
  return
}
