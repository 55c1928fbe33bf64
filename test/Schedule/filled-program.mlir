// Checks that a call of a launch program runs both kernels of its problem: the kernel of the fill and that of the
// operation that overwrites the result. The table disables the map recipe, which would merge the two.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %s --check --target=sse42 --tolerance=1e-30
// CHECK: func.func @scale_fill_kernel({{.*}} problem = "scale",
// CHECK: func.func @scale_kernel({{.*}} problem = "scale",

module attributes {quern.program = #quern.program<call @scale("src", "dst") call @scale("src", "dst"[256]) independent>} {
memref.global "private" constant @factors : memref<7xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>
func.func @scale(%src: memref<4x7xf32> {quern.arg = "src"}, %dst: memref<4x16xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dst : memref<4x16xf32>)
  %factors = memref.get_global @factors : memref<7xf32>
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c mod 16)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%src, %factors : memref<4x7xf32>, memref<7xf32>) outs(%dst : memref<4x16xf32>) {
  ^bb0(%x: f32, %f: f32, %old: f32):
    %y = arith.mulf %x, %f : f32
    linalg.yield %y : f32
  }
  return
}
}
