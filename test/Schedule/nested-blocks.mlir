// Checks blocks within blocks (4b16a4b) on both sides of the row: the row's address is a sum of three digits, and the
// vectors and the limit of the other dim are those of a plain block of 16.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/row.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=ROW --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %t/row.mlir --check --target=avx512_core
// RUN: quern-opt %t/row.mlir --check --target=avx2
// RUN: quern-opt %t/row.mlir --check --target=sse42
// RUN: quern-opt %t/other.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=OTHER --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %t/other.mlir --check --target=avx512_core
// RUN: quern-opt %t/other.mlir --check --target=avx2
// RUN: quern-opt %t/other.mlir --check --target=sse42
// ROW: plan = <rows, ops = 2, sweeps = 2
// ROW-DAG: arith.divui %{{.*}}, %c16
// ROW-DAG: arith.divui %{{.*}}, %c4
// ROW-DAG: arith.remui %{{.*}}, %c4
// OTHER: plan = <rows, ops = 2, sweeps = 2

//--- row.mlir
#id = affine_map<(a, b) -> (a, b)>
#full = affine_map<(a, b) -> (a floordiv 16, b floordiv 16, (b floordiv 4) mod 4, a mod 16, b mod 4)>
#perRow = affine_map<(a, b) -> (a)>
func.func @row(%src: memref<2x3x4x16x4xf32>, %dst: memref<2x3x4x16x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<20x37xi8>
  %sum = memref.alloc() : memref<20xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<20xf32>)
  linalg.generic {indexing_maps = [#id, #full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<20x37xi8>, memref<2x3x4x16x4xf32>) outs(%sum : memref<20xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src, %sum : memref<20x37xi8>, memref<2x3x4x16x4xf32>, memref<20xf32>) outs(%dst : memref<2x3x4x16x4xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32, %out: f32):
    %y = arith.subf %x, %s : f32
    linalg.yield %y : f32
  }
  return
}

//--- other.mlir
#id = affine_map<(a, b) -> (a, b)>
#full = affine_map<(a, b) -> (a floordiv 16, b floordiv 16, (b floordiv 4) mod 4, a mod 16, b mod 4)>
#perRow = affine_map<(a, b) -> (b)>
func.func @other(%src: memref<2x3x4x16x4xf32>, %dst: memref<2x3x4x16x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<20x37xi8>
  %sum = memref.alloc() : memref<37xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<37xf32>)
  linalg.generic {indexing_maps = [#id, #full, #perRow], iterator_types = ["reduction", "parallel"]}
      ins(%pin, %src : memref<20x37xi8>, memref<2x3x4x16x4xf32>) outs(%sum : memref<37xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src, %sum : memref<20x37xi8>, memref<2x3x4x16x4xf32>, memref<37xf32>) outs(%dst : memref<2x3x4x16x4xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32, %out: f32):
    %y = arith.subf %x, %s : f32
    linalg.yield %y : f32
  }
  return
}
