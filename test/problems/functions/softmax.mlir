// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @softmax_1024x1000(%x: tensor<1024x1000xf32>) -> tensor<1024x1000xf32> {
  %e = tensor.empty() : tensor<1024x1000xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<1024x1000xf32>) outs(%e : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  return %y : tensor<1024x1000xf32>
}
func.func @softmax_256x4096(%x: tensor<256x4096xf32>) -> tensor<256x4096xf32> {
  %e = tensor.empty() : tensor<256x4096xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<256x4096xf32>) outs(%e : tensor<256x4096xf32>) -> tensor<256x4096xf32>
  return %y : tensor<256x4096xf32>
}
func.func @masked_softmax_12x384(%x: tensor<12x384x384xf32>, %mask: tensor<384x384xf32>) -> tensor<12x384x384xf32> {
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<12x384x384xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, r, c) -> (h, r, c)>, affine_map<(h, r, c) -> (r, c)>,
                                        affine_map<(h, r, c) -> (h, r, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mask : tensor<12x384x384xf32>, tensor<384x384xf32>) outs(%e : tensor<12x384x384xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %m = arith.mulf %a, %scale : f32
    %n = arith.addf %m, %b : f32
    linalg.yield %n : f32
  } -> tensor<12x384x384xf32>
  %y = linalg.softmax dimension(2) ins(%s : tensor<12x384x384xf32>) outs(%e : tensor<12x384x384xf32>) -> tensor<12x384x384xf32>
  return %y : tensor<12x384x384xf32>
}
