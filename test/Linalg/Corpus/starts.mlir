// Input: reductions with any initial value, and reductions over no elements, whose result is the initial value. Checks
// that a bias as initial value is part of the product's problem.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:bias --target=avx2 | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>
#none = affine_map<(r, c) -> ()>

func.func @sum_f32_constant(%x: tensor<13x37xf32>) -> tensor<13xf32> {
  %k = arith.constant 2.5 : f32
  %e = tensor.empty() : tensor<13xf32>
  %s = linalg.fill ins(%k : f32) outs(%e : tensor<13xf32>) -> tensor<13xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf32>) outs(%s : tensor<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<13xf32>
  return %y : tensor<13xf32>
}

func.func @sum_f32_argument(%x: tensor<13x37xf32>, %s: tensor<13xf32>) -> tensor<13xf32> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf32>) outs(%s : tensor<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<13xf32>
  return %y : tensor<13xf32>
}

func.func @sum_f32_computed(%x: tensor<13x37xf32>, %s0: tensor<37xf32>) -> tensor<37xf32> {
  %e = tensor.empty() : tensor<37xf32>
  %s = linalg.add ins(%s0, %s0 : tensor<37xf32>, tensor<37xf32>) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x37xf32>) outs(%s : tensor<37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<37xf32>
  return %y : tensor<37xf32>
}

func.func @sum_f64_constant(%x: tensor<13x37xf64>) -> tensor<13xf64> {
  %k = arith.constant 2.5 : f64
  %e = tensor.empty() : tensor<13xf64>
  %s = linalg.fill ins(%k : f64) outs(%e : tensor<13xf64>) -> tensor<13xf64>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf64>) outs(%s : tensor<13xf64>) {
  ^bb0(%a: f64, %o: f64):
    %t = arith.addf %o, %a : f64
    linalg.yield %t : f64
  } -> tensor<13xf64>
  return %y : tensor<13xf64>
}

func.func @sum_f64_argument(%x: tensor<13x37xf64>, %s: tensor<13xf64>) -> tensor<13xf64> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf64>) outs(%s : tensor<13xf64>) {
  ^bb0(%a: f64, %o: f64):
    %t = arith.addf %o, %a : f64
    linalg.yield %t : f64
  } -> tensor<13xf64>
  return %y : tensor<13xf64>
}

func.func @sum_f64_computed(%x: tensor<13x37xf64>, %s0: tensor<37xf64>) -> tensor<37xf64> {
  %e = tensor.empty() : tensor<37xf64>
  %s = linalg.add ins(%s0, %s0 : tensor<37xf64>, tensor<37xf64>) outs(%e : tensor<37xf64>) -> tensor<37xf64>
  %y = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x37xf64>) outs(%s : tensor<37xf64>) {
  ^bb0(%a: f64, %o: f64):
    %t = arith.addf %o, %a : f64
    linalg.yield %t : f64
  } -> tensor<37xf64>
  return %y : tensor<37xf64>
}

func.func @sum_bf16_constant(%x: tensor<13x37xbf16>) -> tensor<13xbf16> {
  %k = arith.constant 2.5 : bf16
  %e = tensor.empty() : tensor<13xbf16>
  %s = linalg.fill ins(%k : bf16) outs(%e : tensor<13xbf16>) -> tensor<13xbf16>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xbf16>) outs(%s : tensor<13xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %t = arith.addf %o, %a : bf16
    linalg.yield %t : bf16
  } -> tensor<13xbf16>
  return %y : tensor<13xbf16>
}

func.func @sum_bf16_argument(%x: tensor<13x37xbf16>, %s: tensor<13xbf16>) -> tensor<13xbf16> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xbf16>) outs(%s : tensor<13xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %t = arith.addf %o, %a : bf16
    linalg.yield %t : bf16
  } -> tensor<13xbf16>
  return %y : tensor<13xbf16>
}

func.func @sum_bf16_computed(%x: tensor<13x37xbf16>, %s0: tensor<37xbf16>) -> tensor<37xbf16> {
  %e = tensor.empty() : tensor<37xbf16>
  %s = linalg.add ins(%s0, %s0 : tensor<37xbf16>, tensor<37xbf16>) outs(%e : tensor<37xbf16>) -> tensor<37xbf16>
  %y = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x37xbf16>) outs(%s : tensor<37xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %t = arith.addf %o, %a : bf16
    linalg.yield %t : bf16
  } -> tensor<37xbf16>
  return %y : tensor<37xbf16>
}

func.func @sum_f16_constant(%x: tensor<13x37xf16>) -> tensor<13xf16> {
  %k = arith.constant 2.5 : f16
  %e = tensor.empty() : tensor<13xf16>
  %s = linalg.fill ins(%k : f16) outs(%e : tensor<13xf16>) -> tensor<13xf16>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf16>) outs(%s : tensor<13xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.addf %o, %a : f16
    linalg.yield %t : f16
  } -> tensor<13xf16>
  return %y : tensor<13xf16>
}

func.func @sum_f16_argument(%x: tensor<13x37xf16>, %s: tensor<13xf16>) -> tensor<13xf16> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf16>) outs(%s : tensor<13xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.addf %o, %a : f16
    linalg.yield %t : f16
  } -> tensor<13xf16>
  return %y : tensor<13xf16>
}

func.func @sum_f16_computed(%x: tensor<13x37xf16>, %s0: tensor<37xf16>) -> tensor<37xf16> {
  %e = tensor.empty() : tensor<37xf16>
  %s = linalg.add ins(%s0, %s0 : tensor<37xf16>, tensor<37xf16>) outs(%e : tensor<37xf16>) -> tensor<37xf16>
  %y = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x37xf16>) outs(%s : tensor<37xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.addf %o, %a : f16
    linalg.yield %t : f16
  } -> tensor<37xf16>
  return %y : tensor<37xf16>
}

func.func @sum_i32_constant(%x: tensor<13x37xi32>) -> tensor<13xi32> {
  %k = arith.constant 3 : i32
  %e = tensor.empty() : tensor<13xi32>
  %s = linalg.fill ins(%k : i32) outs(%e : tensor<13xi32>) -> tensor<13xi32>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xi32>) outs(%s : tensor<13xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.addi %o, %a : i32
    linalg.yield %t : i32
  } -> tensor<13xi32>
  return %y : tensor<13xi32>
}

func.func @sum_i32_argument(%x: tensor<13x37xi32>, %s: tensor<13xi32>) -> tensor<13xi32> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xi32>) outs(%s : tensor<13xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.addi %o, %a : i32
    linalg.yield %t : i32
  } -> tensor<13xi32>
  return %y : tensor<13xi32>
}

func.func @sum_i32_computed(%x: tensor<13x37xi32>, %s0: tensor<37xi32>) -> tensor<37xi32> {
  %e = tensor.empty() : tensor<37xi32>
  %s = linalg.add ins(%s0, %s0 : tensor<37xi32>, tensor<37xi32>) outs(%e : tensor<37xi32>) -> tensor<37xi32>
  %y = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x37xi32>) outs(%s : tensor<37xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.addi %o, %a : i32
    linalg.yield %t : i32
  } -> tensor<37xi32>
  return %y : tensor<37xi32>
}

func.func @sum_i8_constant(%x: tensor<13x37xi8>) -> tensor<13xi8> {
  %k = arith.constant 3 : i8
  %e = tensor.empty() : tensor<13xi8>
  %s = linalg.fill ins(%k : i8) outs(%e : tensor<13xi8>) -> tensor<13xi8>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xi8>) outs(%s : tensor<13xi8>) {
  ^bb0(%a: i8, %o: i8):
    %t = arith.addi %o, %a : i8
    linalg.yield %t : i8
  } -> tensor<13xi8>
  return %y : tensor<13xi8>
}

func.func @sum_i8_argument(%x: tensor<13x37xi8>, %s: tensor<13xi8>) -> tensor<13xi8> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xi8>) outs(%s : tensor<13xi8>) {
  ^bb0(%a: i8, %o: i8):
    %t = arith.addi %o, %a : i8
    linalg.yield %t : i8
  } -> tensor<13xi8>
  return %y : tensor<13xi8>
}

func.func @sum_i8_computed(%x: tensor<13x37xi8>, %s0: tensor<37xi8>) -> tensor<37xi8> {
  %e = tensor.empty() : tensor<37xi8>
  %s = linalg.add ins(%s0, %s0 : tensor<37xi8>, tensor<37xi8>) outs(%e : tensor<37xi8>) -> tensor<37xi8>
  %y = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x37xi8>) outs(%s : tensor<37xi8>) {
  ^bb0(%a: i8, %o: i8):
    %t = arith.addi %o, %a : i8
    linalg.yield %t : i8
  } -> tensor<37xi8>
  return %y : tensor<37xi8>
}

func.func @sum_of_all(%x: tensor<13x37xf32>, %s: tensor<f32>) -> tensor<f32> {
  %y = linalg.generic {indexing_maps = [#rc, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<13x37xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

func.func @maximum_argument(%x: tensor<13x37xf32>, %s: tensor<13xf32>) -> tensor<13xf32> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xf32>) outs(%s : tensor<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<13xf32>
  return %y : tensor<13xf32>
}

func.func @minimum_computed(%x: tensor<13x37xi32>, %s0: tensor<13xi32>) -> tensor<13xi32> {
  %e = tensor.empty() : tensor<13xi32>
  %s = linalg.add ins(%s0, %s0 : tensor<13xi32>, tensor<13xi32>) outs(%e : tensor<13xi32>) -> tensor<13xi32>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x37xi32>) outs(%s : tensor<13xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.minsi %o, %a : i32
    linalg.yield %t : i32
  } -> tensor<13xi32>
  return %y : tensor<13xi32>
}

func.func @sum_of_none(%x: tensor<13x0xf32>) -> tensor<13xf32> {
  %k = arith.constant 2.5 : f32
  %e = tensor.empty() : tensor<13xf32>
  %s = linalg.fill ins(%k : f32) outs(%e : tensor<13xf32>) -> tensor<13xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x0xf32>) outs(%s : tensor<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<13xf32>
  return %y : tensor<13xf32>
}

func.func @sum_of_none_argument(%x: tensor<13x0xbf16>, %s: tensor<13xbf16>) -> tensor<13xbf16> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<13x0xbf16>) outs(%s : tensor<13xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %t = arith.addf %o, %a : bf16
    linalg.yield %t : bf16
  } -> tensor<13xbf16>
  return %y : tensor<13xbf16>
}

func.func @no_rows(%x: tensor<0x37xf32>) -> tensor<0xf32> {
  %k = arith.constant 2.5 : f32
  %e = tensor.empty() : tensor<0xf32>
  %s = linalg.fill ins(%k : f32) outs(%e : tensor<0xf32>) -> tensor<0xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<0x37xf32>) outs(%s : tensor<0xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<0xf32>
  return %y : tensor<0xf32>
}

func.func @matmul_f32_21(%x: tensor<9x21xf32>, %w: tensor<21x19xf32>, %c: tensor<9x19xf32>) -> tensor<9x19xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<9x21xf32>, tensor<21x19xf32>) outs(%c : tensor<9x19xf32>) -> tensor<9x19xf32>
  return %y : tensor<9x19xf32>
}

func.func @matmul_f32_0(%x: tensor<9x0xf32>, %w: tensor<0x19xf32>, %c: tensor<9x19xf32>) -> tensor<9x19xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<9x0xf32>, tensor<0x19xf32>) outs(%c : tensor<9x19xf32>) -> tensor<9x19xf32>
  return %y : tensor<9x19xf32>
}

func.func @matmul_bf16_21(%x: tensor<9x21xbf16>, %w: tensor<21x19xbf16>, %c: tensor<9x19xbf16>) -> tensor<9x19xbf16> {
  %y = linalg.matmul ins(%x, %w : tensor<9x21xbf16>, tensor<21x19xbf16>) outs(%c : tensor<9x19xbf16>) -> tensor<9x19xbf16>
  return %y : tensor<9x19xbf16>
}

func.func @matmul_bf16_0(%x: tensor<9x0xbf16>, %w: tensor<0x19xbf16>, %c: tensor<9x19xbf16>) -> tensor<9x19xbf16> {
  %y = linalg.matmul ins(%x, %w : tensor<9x0xbf16>, tensor<0x19xbf16>) outs(%c : tensor<9x19xbf16>) -> tensor<9x19xbf16>
  return %y : tensor<9x19xbf16>
}

func.func @matmul_f16_21(%x: tensor<9x21xf16>, %w: tensor<21x19xf16>, %c: tensor<9x19xf16>) -> tensor<9x19xf16> {
  %y = linalg.matmul ins(%x, %w : tensor<9x21xf16>, tensor<21x19xf16>) outs(%c : tensor<9x19xf16>) -> tensor<9x19xf16>
  return %y : tensor<9x19xf16>
}

func.func @matmul_f16_0(%x: tensor<9x0xf16>, %w: tensor<0x19xf16>, %c: tensor<9x19xf16>) -> tensor<9x19xf16> {
  %y = linalg.matmul ins(%x, %w : tensor<9x0xf16>, tensor<0x19xf16>) outs(%c : tensor<9x19xf16>) -> tensor<9x19xf16>
  return %y : tensor<9x19xf16>
}

func.func @matmul_f64_21(%x: tensor<9x21xf64>, %w: tensor<21x19xf64>, %c: tensor<9x19xf64>) -> tensor<9x19xf64> {
  %y = linalg.matmul ins(%x, %w : tensor<9x21xf64>, tensor<21x19xf64>) outs(%c : tensor<9x19xf64>) -> tensor<9x19xf64>
  return %y : tensor<9x19xf64>
}

func.func @matmul_f64_0(%x: tensor<9x0xf64>, %w: tensor<0x19xf64>, %c: tensor<9x19xf64>) -> tensor<9x19xf64> {
  %y = linalg.matmul ins(%x, %w : tensor<9x0xf64>, tensor<0x19xf64>) outs(%c : tensor<9x19xf64>) -> tensor<9x19xf64>
  return %y : tensor<9x19xf64>
}

func.func @batch_matmul(%x: tensor<3x9x21xbf16>, %w: tensor<3x21x19xbf16>, %c: tensor<3x9x19xf32>) -> tensor<3x9x19xf32> {
  %y = linalg.batch_matmul ins(%x, %w : tensor<3x9x21xbf16>, tensor<3x21x19xbf16>) outs(%c : tensor<3x9x19xf32>) -> tensor<3x9x19xf32>
  return %y : tensor<3x9x19xf32>
}

func.func @matvec(%x: tensor<9x21xf32>, %v: tensor<21xf32>, %c: tensor<9xf32>) -> tensor<9xf32> {
  %y = linalg.matvec ins(%x, %v : tensor<9x21xf32>, tensor<21xf32>) outs(%c : tensor<9xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}

// The bias is the initial value of the product's sums.
func.func @bias(%x: tensor<9x21xf32>, %w: tensor<21x19xf32>, %b: tensor<19xf32>) -> tensor<9x19xf32> {
  %e = tensor.empty() : tensor<9x19xf32>
  %s = linalg.broadcast ins(%b : tensor<19xf32>) outs(%e : tensor<9x19xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<9x21xf32>, tensor<21x19xf32>) outs(%s : tensor<9x19xf32>) -> tensor<9x19xf32>
  return %y : tensor<9x19xf32>
}

func.func @in_memory(%x: memref<13x37xf32>, %s: memref<13xf32>) {
  linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : memref<13x37xf32>) outs(%s : memref<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  }
  return
}

func.func @nothing_in_memory(%x: memref<9x0xf32>, %w: memref<0x19xf32>, %c: memref<9x19xf32>) {
  linalg.matmul ins(%x, %w : memref<9x0xf32>, memref<0x19xf32>) outs(%c : memref<9x19xf32>)
  return
}

// sizes: 13,37,13,13 1,1,1,1 13,0,13,13 0,37,0,0
func.func @open_sum(%x: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
