// Checks that a row minus its maximum is known to be at most 0, so exp needs no upper bound, in a handwritten softmax
// with any order of loops. This does not hold if the maximum of another tensor or row, or a minimum, is subtracted.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern dump --mlir=%t/yes.mlir:own --stage=emit | FileCheck %s
// RUN: quern dump --mlir=%t/yes.mlir:turned --stage=emit | FileCheck %s
// RUN: quern run --mlir=%t/yes.mlir:own --mlir=%t/yes.mlir:turned --check --repeat=1
// RUN: quern dump --mlir=%t/no.mlir:other --stage=emit | FileCheck %s --check-prefix=NONE
// RUN: quern dump --mlir=%t/no.mlir:column --stage=emit | FileCheck %s --check-prefix=NONE
// RUN: quern dump --mlir=%t/no.mlir:least --stage=emit | FileCheck %s --check-prefix=NONE
// RUN: quern run --mlir=%t/no.mlir:other --mlir=%t/no.mlir:column --mlir=%t/no.mlir:least --check --repeat=1
// CHECK: math.exp {{.*}} {quern.relax = #quern.relax<nonpositive>}
// NONE: math.exp
// NONE-NOT: nonpositive
//--- yes.mlir
#id = affine_map<(r, c) -> (r, c)>
#swapped = affine_map<(r, c) -> (c, r)>
#row = affine_map<(r, c) -> (r)>
#column = affine_map<(r, c) -> (c)>
func.func @own(%x: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %low = arith.constant -1.0e30 : f32
  %most = memref.alloc() : memref<16xf32>
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<16x16xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.maxnumf %a, %s : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %most : memref<16x16xf32>, memref<16xf32>) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  return
}
func.func @turned(%x: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %low = arith.constant -1.0e30 : f32
  %most = memref.alloc() : memref<16xf32>
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<16x16xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.maxnumf %a, %s : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#swapped, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %most : memref<16x16xf32>, memref<16xf32>) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  return
}
//--- no.mlir
#id = affine_map<(r, c) -> (r, c)>
#swapped = affine_map<(r, c) -> (c, r)>
#row = affine_map<(r, c) -> (r)>
#column = affine_map<(r, c) -> (c)>
func.func @other(%x: memref<16x16xf32>, %z: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %low = arith.constant -1.0e30 : f32
  %most = memref.alloc() : memref<16xf32>
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<16x16xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.maxnumf %a, %s : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%z, %most : memref<16x16xf32>, memref<16xf32>) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  return
}
func.func @column(%x: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %low = arith.constant -1.0e30 : f32
  %most = memref.alloc() : memref<16xf32>
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<16x16xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.maxnumf %a, %s : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %most : memref<16x16xf32>, memref<16xf32>) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  return
}
func.func @least(%x: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %low = arith.constant -1.0e30 : f32
  %most = memref.alloc() : memref<16xf32>
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<16x16xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.minnumf %a, %s : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %most : memref<16x16xf32>, memref<16xf32>) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  return
}
