// Input: a row in blocks of 16. Checks that it has unit stride inside a block, which is found by a division and a
// remainder, on every target whose vectors do not straddle blocks. The unread operand that defines the extents leaves
// no code.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --schedule --target=sse42 | FileCheck %s --check-prefix=SSE --implicit-check-not=quern.scratch
// RUN: quern-opt %s --check --target=sse42
// RUN: quern-opt %s --check
// CHECK: func.func @softmax_kernel(%[[SRC:[^:]*]]: memref<336xf32> {quern.arg = "src"}, %[[DST:[^:]*]]: memref<336xf32> {quern.arg = "dst"}
// CHECK-SAME: along_row
// CHECK: vector.load %[[SRC]]{{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} %[[DST]]{{.*}} vector<16xf32>
// SSE: arith.divui
// SSE: arith.remui
// SSE: vector.load {{.*}} vector<4xf32>

#id = affine_map<(row, col) -> (row, col)>
#full = affine_map<(row, col) -> (col floordiv 16, row, col mod 16)>
#perRow = affine_map<(row, col) -> (row)>
#row = affine_map<(row) -> (row)>
func.func @softmax(%src: memref<3x7x16xf32> {quern.arg = "src"}, %dst: memref<3x7x16xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %pin = memref.alloc() : memref<7x48xi8>
  %max = memref.alloc() : memref<7xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<7xf32>)
  linalg.generic {indexing_maps = [#id, #full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<7x48xi8>, memref<3x7x16xf32>) outs(%max : memref<7xf32>) {
  ^bb0(%unread: i8, %x: f32, %m: f32):
    %r = arith.maxnumf %x, %m : f32
    linalg.yield %r : f32
  }
  %exp = memref.alloc() : memref<3x7x16xf32>
  linalg.generic {indexing_maps = [#id, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src, %max : memref<7x48xi8>, memref<3x7x16xf32>, memref<7xf32>) outs(%exp : memref<3x7x16xf32>) {
  ^bb0(%unread: i8, %x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %e = math.exp %d {quern.relax = #quern.relax<nonpositive>} : f32
    linalg.yield %e : f32
  }
  %sum = memref.alloc() : memref<7xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<7xf32>)
  linalg.generic {indexing_maps = [#id, #full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %exp : memref<7x48xi8>, memref<3x7x16xf32>) outs(%sum : memref<7xf32>) {
  ^bb0(%unread: i8, %e: f32, %s: f32):
    %r = arith.addf %e, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  %inverse = memref.alloc() : memref<7xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%sum : memref<7xf32>) outs(%inverse : memref<7xf32>) {
  ^bb0(%s: f32, %out: f32):
    %r = arith.divf %one, %s : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #full, #perRow, #full], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %exp, %inverse : memref<7x48xi8>, memref<3x7x16xf32>, memref<7xf32>) outs(%dst : memref<3x7x16xf32>) {
  ^bb0(%unread: i8, %e: f32, %i: f32, %out: f32):
    %y = arith.mulf %e, %i : f32
    linalg.yield %y : f32
  }
  return
}
