// Checks that a chain of ops that is not a chain of rows is refused with a one-line reason, and that nothing is
// scheduled.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: not quern-opt %t/relaxation.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=RELAXATION
// RUN: not quern-opt %t/start.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=START
// RUN: not quern-opt %t/vast.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=VAST
// RUN: not quern-opt %t/overlap.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not quern-opt %t/narrow.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=NARROW
// RELAXATION: rows: a sum along the row has no fastmath<reassoc>
// START: rows: an accumulator does not start from a neutral constant
// VAST: rows: operand #0 of an op has a size of 1125899906842624 or more
// OVERLAP: rows: an argument is read at a different point than it is overwritten
// NARROW: rows: 'arith.maxnumf' computes in a type narrower than 32 bits

//--- relaxation.mlir
func.func @relaxation(%src: memref<4x8xf32>, %dst: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dst : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<4x8xf32>) outs(%dst : memref<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s : f32
    linalg.yield %r : f32
  }
  return
}

//--- start.mlir
func.func @start(%src: memref<4x8xf32>, %dst: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%dst : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<4x8xf32>) outs(%dst : memref<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  return
}

//--- vast.mlir
func.func @vast(%src: memref<4x8xf32, strided<[1125899906842624, 1]>>, %dst: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dst : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<4x8xf32, strided<[1125899906842624, 1]>>) outs(%dst : memref<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  return
}

//--- overlap.mlir
func.func @overlap(%data: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (c, r)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%data : memref<8x8xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<8xf32>) outs(%data : memref<8x8xf32>) {
  ^bb0(%s: f32, %out: f32):
    linalg.yield %s : f32
  }
  return
}

//--- narrow.mlir
func.func @narrow(%src: memref<4x8xbf16>, %dst: memref<4xbf16>) {
  %lowest = arith.constant 0xFF80 : bf16
  linalg.fill ins(%lowest : bf16) outs(%dst : memref<4xbf16>)
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<4x8xbf16>) outs(%dst : memref<4xbf16>) {
  ^bb0(%x: bf16, %s: bf16):
    %r = arith.maxnumf %x, %s : bf16
    linalg.yield %r : bf16
  }
  return
}
