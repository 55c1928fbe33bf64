// Input: values that are known at execution (sizes, strides, numbers) and tables of the module. Checks that open sizes
// and numbers are part of one problem.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:eltwise_dynamic --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:strides_dynamic --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:numbers --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:elementwise_category --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:cast --target=avx2 | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#c = affine_map<(r, c) -> (c)>

// sizes: 9,77,77,9,77 0,0,0,0,0 0,77,77,0,77 9,0,0,9,0
func.func @eltwise_dynamic(%x: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// sizes: 48,3,64,5 0,3,64,5 48,0,64,5 48,3,64,0
func.func @strides_dynamic(%x: memref<12x40xf32, strided<[?, 1], offset: ?>>, %y: memref<12x40xf32, strided<[?, 1], offset: ?>>) {
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<12x40xf32, strided<[?, 1], offset: ?>>) outs(%y : memref<12x40xf32, strided<[?, 1], offset: ?>>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %half : f32
    linalg.yield %t : f32
  }
  return
}

// Factors and an exponent that are scalar arguments.
func.func @numbers(%x: tensor<22x64xf32>, %alpha: f32, %beta: f32, %shift: i32) -> tensor<22x64xf32> {
  %e = tensor.empty() : tensor<22x64xf32>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<22x64xf32>) outs(%e : tensor<22x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %alpha : f32
    %s = arith.addf %m, %beta : f32
    %f = arith.sitofp %shift : i32 to f32
    %t = arith.addf %s, %f : f32
    linalg.yield %t : f32
  } -> tensor<22x64xf32>
  return %y : tensor<22x64xf32>
}

// A constant weight table of the module, stored with the kernel.
func.func @table(%x: tensor<5x8xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[0.5, -1.0, 2.0, 0.25], [1.5, 0.75, -0.5, 1.0], [0.0, 1.0, 2.0, 3.0], [-1.0, 0.5, 0.125, 4.0],
                             [1.0, 1.0, -1.0, -1.0], [0.5, 0.5, 0.5, 0.5], [2.0, -2.0, 2.0, -2.0], [0.1, 0.2, 0.3, 0.4]]> : tensor<8x4xf32>
  %b = arith.constant dense<[0.1, -0.2, 0.3, -0.4]> : tensor<4xf32>
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<5x8xf32>, tensor<8x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<5x4xf32>, tensor<4xf32>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %t = arith.addf %a, %v : f32
    linalg.yield %t : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// A static matrix that is cast to an open size and back: the cast changes nothing.
func.func @cast(%x: tensor<22x64xf32>) -> tensor<22x64xf32> {
  %c0 = arith.constant 0 : index
  %any = tensor.cast %x : tensor<22x64xf32> to tensor<?x64xf32>
  %n = tensor.dim %any, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %y = linalg.exp ins(%any : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %known = tensor.cast %y : tensor<?x64xf32> to tensor<22x64xf32>
  return %known : tensor<22x64xf32>
}

// Two parts of one buffer, each written by a separate operation.
func.func @parts(%x: memref<20x32xf32>, %y: memref<20x64xf32>) {
  %left = memref.subview %y[0, 0] [20, 32] [1, 1] : memref<20x64xf32> to memref<20x32xf32, strided<[64, 1]>>
  %right = memref.subview %y[0, 32] [20, 32] [1, 1] : memref<20x64xf32> to memref<20x32xf32, strided<[64, 1], offset: 32>>
  linalg.exp ins(%x : memref<20x32xf32>) outs(%left : memref<20x32xf32, strided<[64, 1]>>)
  linalg.tanh ins(%x : memref<20x32xf32>) outs(%right : memref<20x32xf32, strided<[64, 1], offset: 32>>)
  return
}

func.func @elementwise_category(%x: tensor<22x64xf32>, %b: tensor<64xf32>) -> tensor<22x64xf32> {
  %e = tensor.empty() : tensor<22x64xf32>
  %s = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [#rc, #c, #rc] ins(%x, %b : tensor<22x64xf32>, tensor<64xf32>) outs(%e : tensor<22x64xf32>) -> tensor<22x64xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%s : tensor<22x64xf32>) outs(%e : tensor<22x64xf32>) -> tensor<22x64xf32>
  return %y : tensor<22x64xf32>
}
