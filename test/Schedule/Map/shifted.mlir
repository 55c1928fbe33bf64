// Input: a source that starts within a block of the destination, whose digits are those of the index plus a constant.
// Checks that if a number divides both the block and the constant (8 of 16), runs have this length and the digits of
// the axis above them are computed. Otherwise (3 of 16) that axis is a separate axis and the runs are along another
// contiguous dim, if there is one. Digits that never wrap around are dropped.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/half.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=HALF --implicit-check-not=linalg.
// RUN: quern-opt %t/half.mlir --check --target=avx512_core
// RUN: quern-opt %t/odd.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ODD --implicit-check-not=linalg.
// RUN: quern-opt %t/odd.mlir --check --target=avx512_core
// RUN: quern-opt %t/odd.mlir --check --target=sse42
// RUN: quern-opt %t/nested.mlir --check --target=avx2
// RUN: quern-opt %t/halves.mlir --check --target=avx512_core
// RUN: quern-opt %t/inside.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=INSIDE
// RUN: quern-opt %t/inside.mlir --check --target=avx512_core
// RUN: not quern-opt %t/apart.mlir --schedule --target=avx2 2>&1 | FileCheck %s --check-prefix=APART
// HALF: plan = <map, kind = "lines", {{.*}}run = 8, {{.*}}(nonlinear)
// HALF: arith.divui
// ODD: plan = <map, {{.*}}(nonlinear)
// INSIDE: plan = <map, kind = "lines"
// INSIDE-NOT: arith.divui
// INSIDE-NOT: arith.remui
// APART: map: operand #1 of an op has digits of a loop with incompatible shifts

//--- half.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> ((c + 8) floordiv 16, n, (c + 8) mod 16)>
func.func @half(%src: memref<10x40xf32> {quern.arg = "src"}, %dst: memref<3x10x16xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<10x40xf32>) outs(%dst : memref<3x10x16xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- odd.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> ((c + 3) floordiv 16, n, (c + 3) mod 16)>
func.func @odd(%src: memref<10x41xf32> {quern.arg = "src"}, %dst: memref<3x10x16xbf16> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<10x41xf32>) outs(%dst : memref<3x10x16xbf16>) {
  ^bb0(%x: f32, %old: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  }
  return
}

//--- nested.mlir
#src = affine_map<(n, c) -> (c floordiv 8, n, c mod 8)>
#dst = affine_map<(n, c) -> ((c + 6) floordiv 16, ((c + 6) floordiv 4) mod 4, n, (c + 6) mod 4)>
#logical = affine_map<(n, c) -> (n, c)>
func.func @nested(%src: memref<5x7x8xf32> {quern.arg = "src"}, %dst: memref<3x4x7x4xf32> {quern.arg = "dst"}) {
  %pin = memref.alloc() : memref<7x39xi8>
  linalg.generic {indexing_maps = [#src, #logical, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src, %pin : memref<5x7x8xf32>, memref<7x39xi8>) outs(%dst : memref<3x4x7x4xf32>) {
  ^bb0(%x: f32, %unread: i8, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- halves.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> ((c + 8) floordiv 32, (c floordiv 8 + 1) mod 4, n, c mod 8)>
func.func @halves(%src: memref<7x40xf32> {quern.arg = "src"}, %dst: memref<2x4x7x8xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<7x40xf32>) outs(%dst : memref<2x4x7x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- inside.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> ((c + 3) floordiv 16, n, (c + 3) mod 16)>
func.func @inside(%src: memref<10x13xf32> {quern.arg = "src"}, %dst: memref<1x10x16xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<10x13xf32>) outs(%dst : memref<1x10x16xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- apart.mlir
#src = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> ((c + 16) floordiv 16, n, (c + 3) mod 16)>
func.func @apart(%src: memref<10x32xf32> {quern.arg = "src"}, %dst: memref<4x10x16xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<10x32xf32>) outs(%dst : memref<4x10x16xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
