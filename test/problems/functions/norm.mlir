// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @layer_norm_1024x768(%x: tensor<1024x768xf32>, %gain: tensor<768xf32>, %shift: tensor<768xf32>) -> tensor<1024x768xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 768.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %row = tensor.empty() : tensor<1024xf32>
  %e = tensor.empty() : tensor<1024x768xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                         iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1024x768xf32>) outs(%start : tensor<1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.addf %s, %a : f32
    linalg.yield %n : f32
  } -> tensor<1024xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1024x768xf32>, tensor<1024xf32>) outs(%e : tensor<1024x768xf32>) {
  ^bb0(%a: f32, %s: f32, %old: f32):
    %mean = arith.divf %s, %count : f32
    %n = arith.subf %a, %mean : f32
    linalg.yield %n : f32
  } -> tensor<1024x768xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                             iterator_types = ["parallel", "reduction"]} ins(%d : tensor<1024x768xf32>) outs(%start : tensor<1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %m = arith.mulf %a, %a : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (c)>,
                                        affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%d, %squares, %gain, %shift : tensor<1024x768xf32>, tensor<1024xf32>, tensor<768xf32>, tensor<768xf32>) outs(%e : tensor<1024x768xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %b: f32, %old: f32):
    %variance = arith.divf %s, %count : f32
    %v = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %v : f32
    %m = arith.mulf %a, %r : f32
    %n = arith.mulf %m, %g : f32
    %o = arith.addf %n, %b : f32
    linalg.yield %o : f32
  } -> tensor<1024x768xf32>
  return %y : tensor<1024x768xf32>
}
func.func @layer_norm_4096x1024(%x: tensor<4096x1024xf32>, %gain: tensor<1024xf32>, %shift: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 1024.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %row = tensor.empty() : tensor<4096xf32>
  %e = tensor.empty() : tensor<4096x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<4096xf32>) -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                         iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x1024xf32>) outs(%start : tensor<4096xf32>) {
  ^bb0(%a: f32, %s: f32):
    %n = arith.addf %s, %a : f32
    linalg.yield %n : f32
  } -> tensor<4096xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%a: f32, %s: f32, %old: f32):
    %mean = arith.divf %s, %count : f32
    %n = arith.subf %a, %mean : f32
    linalg.yield %n : f32
  } -> tensor<4096x1024xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                             iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4096x1024xf32>) outs(%start : tensor<4096xf32>) {
  ^bb0(%a: f32, %s: f32):
    %m = arith.mulf %a, %a : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<4096xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (c)>,
                                        affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%d, %squares, %gain, %shift : tensor<4096x1024xf32>, tensor<4096xf32>, tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %b: f32, %old: f32):
    %variance = arith.divf %s, %count : f32
    %v = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %v : f32
    %m = arith.mulf %a, %r : f32
    %n = arith.mulf %m, %g : f32
    %o = arith.addf %n, %b : f32
    linalg.yield %o : f32
  } -> tensor<4096x1024xf32>
  return %y : tensor<4096x1024xf32>
}
