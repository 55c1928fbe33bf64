// Input: an epilogue that reads an argument whose rows are contiguous instead of its columns. Checks that a vector of
// its columns is transposed in squares into scratch, from which each row loads a vector; columns that fill no square
// are copied element by element.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// RUN: sed 's/57x90xf32/57x90xbf16/g; s/%m: f32, %old/%m16: bf16, %old/; s/^    %y = arith.addf/    %m = arith.extf %m16 : bf16 to f32\n    %y = arith.addf/' %s > %t
// RUN: quern-opt %t --check --target=avx512_core
// RUN: quern-opt %t --check --target=avx2
// RUN: quern-opt %t --check --target=sse42
// RUN: sed 's/57x90xf32/57x90xf32, strided<[180, 2]>/g' %s > %t.apart
// RUN: quern-opt %t.apart --schedule --target=avx512_core | FileCheck %s --check-prefix=APART
// RUN: quern-opt %t.apart --check --target=avx512_core
// RUN: quern-opt %t.apart --check --target=avx2
// RUN: sed 's/90x/3x/g; s/x90x/x3x/g' %s > %t.low
// RUN: quern-opt %t.low --check --target=avx512_core
// RUN: quern-opt %t.low --check --target=sse42
// CHECK: plan = <contraction, rows = 90, columns = 57, {{.*}}epilogue_place = "over scratch", tail = "masked">
// CHECK: vector.shuffle
// CHECK: vector.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 {
// CHECK: vector.maskedstore
// APART-NOT: vector.shuffle
// APART: vector.from_elements
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>
func.func @gemm(%a: memref<90x20xf32>, %b: memref<20x57xf32>, %more: memref<57x90xf32>, %c: memref<90x57xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<90x57xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<90x57xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<90x20xf32>, memref<20x57xf32>) outs(%sums : memref<90x57xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %more : memref<90x57xf32>, memref<57x90xf32>) outs(%c : memref<90x57xf32>) {
  ^bb0(%s: f32, %m: f32, %old: f32):
    %y = arith.addf %s, %m : f32
    linalg.yield %y : f32
  }
  return
}
