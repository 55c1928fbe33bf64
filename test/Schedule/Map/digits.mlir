// Input: blocks of one dim that do not divide each other. For 48 and 32, blocks of 16 are contiguous in both, and the
// axis of these blocks is nonlinear. Checks that it is innermost and that its few runs are all in one iteration, at
// constant addresses without divisions. Blocks of 5 and 7 share no run, so each element has a computed address.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/shared.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=SHARED --implicit-check-not=linalg.
// RUN: quern-opt %t/shared.mlir --check --target=avx512_core
// RUN: quern-opt %t/shared.mlir --check --target=sse42
// RUN: quern-opt %t/apart.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=APART --implicit-check-not=linalg.
// RUN: quern-opt %t/apart.mlir --check --target=avx512_core
// SHARED: plan = <map, kind = "lines", {{.*}}run = 16, {{.*}}unroll_and_jam = 8, {{.*}}(nonlinear){{.*}} 8", limits = 1, writes_padding>
// SHARED-NOT: arith.divui
// SHARED: return
// APART: plan = <map, {{.*}}(nonlinear)
// APART: arith.divui

//--- shared.mlir
#src = affine_map<(n, c) -> (c floordiv 48, n, c mod 48)>
#logical = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> (c floordiv 32, n, c mod 32)>
func.func @shared(%src: memref<3x10x48xf32> {quern.arg = "src"}, %dst: memref<4x10x32xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<10x109xi8>
  linalg.fill ins(%zero : f32) outs(%dst : memref<4x10x32xf32>)
  linalg.generic {indexing_maps = [#src, #logical, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src, %pin : memref<3x10x48xf32>, memref<10x109xi8>) outs(%dst : memref<4x10x32xf32>) {
  ^bb0(%x: f32, %unread: i8, %old: f32):
    linalg.yield %x : f32
  }
  return
}

//--- apart.mlir
#src = affine_map<(n, c) -> (c floordiv 5, n, c mod 5)>
#logical = affine_map<(n, c) -> (n, c)>
#dst = affine_map<(n, c) -> (c floordiv 7, n, c mod 7)>
func.func @apart(%src: memref<8x3x5xf32> {quern.arg = "src"}, %dst: memref<6x3x7xf64> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f64
  %pin = memref.alloc() : memref<3x39xi8>
  linalg.fill ins(%zero : f64) outs(%dst : memref<6x3x7xf64>)
  linalg.generic {indexing_maps = [#src, #logical, #dst], iterator_types = ["parallel", "parallel"]}
      ins(%src, %pin : memref<8x3x5xf32>, memref<3x39xi8>) outs(%dst : memref<6x3x7xf64>) {
  ^bb0(%x: f32, %unread: i8, %old: f64):
    %y = arith.extf %x : f32 to f64
    linalg.yield %y : f64
  }
  return
}
