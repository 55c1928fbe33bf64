// Checks the cost of aliasing: %other may be the same buffer as %dst, and the second sweep reads it, so the
// exponentials are kept in scratch instead of the destination. If %other has another layout, they are kept in the
// destination.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/aliased.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ALIASED
// RUN: quern-opt %t/aliased.mlir --check
// RUN: quern-opt %t/apart.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=APART --implicit-check-not=quern.scratch
// RUN: quern-opt %t/apart.mlir --check
// ALIASED: keeps_value = 0, kept_in = "scratch"
// APART: keeps_value = 0, kept_in = "the destination"

//--- aliased.mlir
#full = affine_map<(row, col) -> (row, col)>
#perRow = affine_map<(row, col) -> (row)>
func.func @aliased(%src: memref<8x640xf32>, %other: memref<8x640xf32>, %dst: memref<8x640xf32>) {
  %zero = arith.constant 0.0 : f32
  %exp = memref.alloc() : memref<8x640xf32>
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<8x640xf32>) outs(%exp : memref<8x640xf32>) {
  ^bb0(%x: f32, %out: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  }
  %sum = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%exp : memref<8x640xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %e, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#full, #perRow, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum, %other : memref<8x640xf32>, memref<8xf32>, memref<8x640xf32>) outs(%dst : memref<8x640xf32>) {
  ^bb0(%e: f32, %s: f32, %o: f32, %out: f32):
    %q = arith.divf %e, %s : f32
    %y = arith.addf %q, %o : f32
    linalg.yield %y : f32
  }
  return
}

//--- apart.mlir
#full = affine_map<(row, col) -> (row, col)>
#perRow = affine_map<(row, col) -> (row)>
func.func @apart(%src: memref<8x640xf32>, %other: memref<8x640xf32, strided<[641, 1]>>, %dst: memref<8x640xf32>) {
  %zero = arith.constant 0.0 : f32
  %exp = memref.alloc() : memref<8x640xf32>
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<8x640xf32>) outs(%exp : memref<8x640xf32>) {
  ^bb0(%x: f32, %out: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  }
  %sum = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%exp : memref<8x640xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %e, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#full, #perRow, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum, %other : memref<8x640xf32>, memref<8xf32>, memref<8x640xf32, strided<[641, 1]>>) outs(%dst : memref<8x640xf32>) {
  ^bb0(%e: f32, %s: f32, %o: f32, %out: f32):
    %q = arith.divf %e, %s : f32
    %y = arith.addf %q, %o : f32
    linalg.yield %y : f32
  }
  return
}
