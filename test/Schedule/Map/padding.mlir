// Checks that a fill before the op that writes its blocks is merged with it: one kernel, one pass, zeros in the same
// stores. The fill is gone, the plan has the limit, and the results agree if the padding is part of a vector, whole
// blocks or whole vectors, if the source is also padded, and if both have different blocks. A fill that writes more
// than padding is left to the rows recipe.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/same.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=SAME --implicit-check-not=linalg.
// RUN: quern-opt %t/same.mlir --check --target=avx512_core
// RUN: quern-opt %t/same.mlir --check --target=avx2
// RUN: quern-opt %t/same.mlir --check --target=sse42
// RUN: quern-opt %t/scaled.mlir --check --target=avx512_core
// RUN: quern-opt %t/scaled.mlir --check --target=avx2
// RUN: quern-opt %t/blocks.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=BLOCKS --implicit-check-not=linalg.
// RUN: quern-opt %t/blocks.mlir --check --target=avx512_core
// RUN: quern-opt %t/blocks.mlir --check --target=sse42
// RUN: quern-opt %t/large.mlir --check --target=avx512_core
// RUN: quern-opt %t/large.mlir --check --target=sse42
// RUN: quern-opt %t/more.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=MORE
// RUN: quern-opt %t/more.mlir --check
// SAME: plan = <map, kind = "lines"{{.*}}run = 784, lanes = 16{{.*}}limits = 1, writes_padding>
// SAME: arith.truncf
// BLOCKS: plan = <map, kind = "lines"{{.*}}run = 8{{.*}}limits = 1, writes_padding>
// MORE: func.func @more_fill_kernel({{.*}}plan = <rows
// MORE: func.func @more_kernel({{.*}}plan = <rows

//--- same.mlir
#blocked = affine_map<(n, c, w) -> (n, c floordiv 16, w, c mod 16)>
#logical = affine_map<(n, c, w) -> (c)>
func.func @same(%src: memref<3x3x49x16xf32> {quern.arg = "src"}, %dst: memref<3x3x49x16xbf16> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : bf16
  %pin = memref.alloc() : memref<37xi8>
  linalg.fill ins(%zero : bf16) outs(%dst : memref<3x3x49x16xbf16>)
  linalg.generic {indexing_maps = [#blocked, #logical, #blocked], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src, %pin : memref<3x3x49x16xf32>, memref<37xi8>) outs(%dst : memref<3x3x49x16xbf16>) {
  ^bb0(%x: f32, %unread: i8, %old: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  }
  return
}

//--- scaled.mlir
// The scales have one element per channel, so none is read for padding. Blocks of 8 and vectors of 16.
#blocked = affine_map<(n, c, w) -> (n, c floordiv 8, w, c mod 8)>
#channel = affine_map<(n, c, w) -> (c)>
func.func @scaled(%src: memref<2x3x24x8xi8> {quern.arg = "src"}, %scale: memref<19xf32> {quern.arg = "scale"}, %dst: memref<2x3x24x8xf32> {quern.arg = "dst"}) {
  %minusOne = arith.constant -1.0 : f32
  linalg.fill ins(%minusOne : f32) outs(%dst : memref<2x3x24x8xf32>)
  linalg.generic {indexing_maps = [#blocked, #channel, #blocked], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src, %scale : memref<2x3x24x8xi8>, memref<19xf32>) outs(%dst : memref<2x3x24x8xf32>) {
  ^bb0(%x: i8, %s: f32, %old: f32):
    %f = arith.sitofp %x : i8 to f32
    %y = arith.mulf %f, %s : f32
    linalg.yield %y : f32
  }
  return
}

//--- blocks.mlir
#src = affine_map<(n, c, w) -> (n, c floordiv 16, w, c mod 16)>
#logical = affine_map<(n, c, w) -> (c)>
#dst = affine_map<(n, c, w) -> (n, c floordiv 8, w, c mod 8)>
func.func @blocks(%src: memref<3x3x49x16xf32> {quern.arg = "src"}, %dst: memref<3x5x49x8xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<37xi8>
  linalg.fill ins(%zero : f32) outs(%dst : memref<3x5x49x8xf32>)
  linalg.generic {indexing_maps = [#src, #logical, #dst], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src, %pin : memref<3x3x49x16xf32>, memref<37xi8>) outs(%dst : memref<3x5x49x8xf32>) {
  ^bb0(%x: f32, %unread: i8, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- large.mlir
// Five columns in a block of 64: most vectors contain only padding.
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> (c floordiv 64, n, c mod 64)>
func.func @large(%src: memref<9x69xf32> {quern.arg = "src"}, %dst: memref<2x9x64xi32> {quern.arg = "dst"}) {
  %nine = arith.constant 9 : i32
  linalg.fill ins(%nine : i32) outs(%dst : memref<2x9x64xi32>)
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<9x69xf32>) outs(%dst : memref<2x9x64xi32>) {
  ^bb0(%x: f32, %old: i32):
    %y = arith.bitcast %x : f32 to i32
    linalg.yield %y : i32
  }
  return
}

//--- more.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> (0, n, c)>
func.func @more(%src: memref<9x8xf32> {quern.arg = "src"}, %dst: memref<2x9x8xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dst : memref<2x9x8xf32>)
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<9x8xf32>) outs(%dst : memref<2x9x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
