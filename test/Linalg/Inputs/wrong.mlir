func.func @refused(%x: memref<8xf32>, %w: memref<3xf32>, %y: memref<6xf32>) {
  linalg.conv_1d ins(%x, %w : memref<8xf32>, memref<3xf32>) outs(%y : memref<6xf32>)
  return
}
