// Checks that the products of packed elements in a register of 32-bit lanes are one instruction: NEON's on four lanes,
// SVE's on any number of lanes, for which a vector of fixed length becomes scalable only for the instruction. Products
// without an instruction are kept.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=neon}))' | FileCheck %s --check-prefixes=ALL,NODOTS,NOBF16
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=neon_dotprod}))' | FileCheck %s --check-prefixes=ALL,NEON,NOBF16,NOSVE
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=neon_bf16}))' | FileCheck %s --check-prefixes=ALL,NEON,BF16,NOSVE
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=sve:vl=256}))' | FileCheck %s --check-prefixes=ALL,SVE,NOBF16
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=sve_bf16:vl=256}))' | FileCheck %s --check-prefixes=ALL,NEON,BF16,SVEBF16
#k = affine_map<(l, k) -> (k)>
#lk = affine_map<(l, k) -> (l, k)>
#l = affine_map<(l, k) -> (l)>
#rows = affine_map<(s, i, j, k) -> (i, k)>
#columns = affine_map<(s, i, j, k) -> (s, j, k)>
#sums = affine_map<(s, i, j, k) -> (s, i, j)>
#patch = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction"], kind = #vector.kind<add>}
#dot = {indexing_maps = [#k, #lk, #l], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>}
#each = {indexing_maps = [#lk, #lk, #l], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>}

// Equal signs: a machine with SVE may have no NEON dots.
// ALL-LABEL: func.func @signed(
// NEON: llvm.call_intrinsic "llvm.aarch64.neon.sdot"(%{{.*}}) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
// SVE: llvm.call_intrinsic "llvm.aarch64.sve.sdot"(%{{.*}}) : (vector<[4]xi32>, vector<[16]xi8>, vector<[16]xi8>) -> vector<[4]xi32>
// NODOTS: vector.contract
// ALL: return
func.func @signed(%x: vector<4xi8>, %w: vector<16xi8>, %acc: vector<4xi32>) -> vector<4xi32> {
  %shaped = vector.shape_cast %w : vector<16xi8> to vector<4x4xi8>
  %a = arith.extsi %x : vector<4xi8> to vector<4xi32>
  %b = arith.extsi %shaped : vector<4x4xi8> to vector<4x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<4x4xi32> into vector<4xi32>
  return %y : vector<4xi32>
}

// Different signs, the unsigned operand first, in whatever order they were.
// ALL-LABEL: func.func @mixed(
// ALL-SAME: vector<4xi8>, %[[W:[a-z0-9_]+]]: vector<16xi8>, %[[ACC:[a-z0-9_]+]]: vector<4xi32>
// BF16: llvm.call_intrinsic "llvm.aarch64.neon.usdot"(%[[ACC]], %[[W]], %{{.*}})
// NOBF16: vector.contract
// ALL: return
func.func @mixed(%x: vector<4xi8>, %w: vector<16xi8>, %acc: vector<4xi32>) -> vector<4xi32> {
  %shaped = vector.shape_cast %w : vector<16xi8> to vector<4x4xi8>
  %a = arith.extsi %x : vector<4xi8> to vector<4xi32>
  %b = arith.extui %shaped : vector<4x4xi8> to vector<4x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<4x4xi32> into vector<4xi32>
  return %y : vector<4xi32>
}

// ALL-LABEL: func.func @long(
// SVE: vector.scalable.insert %{{.*}} : vector<32xi8> into vector<[16]xi8>
// SVE: %[[SUMS:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.aarch64.sve.udot"
// SVE: vector.scalable.extract %[[SUMS]][0] : vector<8xi32> from vector<[4]xi32>
// SVEBF16: llvm.call_intrinsic "llvm.aarch64.sve.udot"
// NOSVE: vector.contract
// ALL: return
func.func @long(%x: vector<4xi8>, %w: vector<32xi8>, %acc: vector<8xi32>) -> vector<8xi32> {
  %shaped = vector.shape_cast %w : vector<32xi8> to vector<8x4xi8>
  %a = arith.extui %x : vector<4xi8> to vector<4xi32>
  %b = arith.extui %shaped : vector<8x4xi8> to vector<8x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<8x4xi32> into vector<8xi32>
  return %y : vector<8xi32>
}

// ALL-LABEL: func.func @pairs(
// BF16: llvm.call_intrinsic "llvm.aarch64.neon.bfdot"(%{{.*}}) : (vector<4xf32>, vector<8xbf16>, vector<8xbf16>) -> vector<4xf32>
// NOBF16: vector.contract
// ALL: return
func.func @pairs(%x: vector<2xbf16>, %w: vector<8xbf16>, %acc: vector<4xf32>) -> vector<4xf32> {
  %shaped = vector.shape_cast %w : vector<8xbf16> to vector<4x2xbf16>
  %y = vector.contract #dot %x, %shaped, %acc : vector<2xbf16>, vector<4x2xbf16> into vector<4xf32>
  return %y : vector<4xf32>
}

// 16-bit words widen when they are multiplied, and neighbors are added.
// ALL-LABEL: func.func @halves(
// ALL: %[[PRODUCTS:[a-z0-9_]+]] = arith.muli %{{.*}} : vector<8xi32>
// ALL: %[[EVEN:[a-z0-9_]+]] = vector.shuffle %[[PRODUCTS]], %[[PRODUCTS]] [0, 2, 4, 6]
// ALL: %[[ODD:[a-z0-9_]+]] = vector.shuffle %[[PRODUCTS]], %[[PRODUCTS]] [1, 3, 5, 7]
// ALL: arith.addi %[[EVEN]], %[[ODD]]
// ALL-NOT: vector.contract
// ALL: return
func.func @halves(%x: vector<8xi16>, %w: vector<8xi16>, %acc: vector<4xi32>) -> vector<4xi32> {
  %xs = vector.shape_cast %x : vector<8xi16> to vector<4x2xi16>
  %ws = vector.shape_cast %w : vector<8xi16> to vector<4x2xi16>
  %a = arith.extsi %xs : vector<4x2xi16> to vector<4x2xi32>
  %b = arith.extsi %ws : vector<4x2xi16> to vector<4x2xi32>
  %y = vector.contract #each %a, %b, %acc : vector<4x2xi32>, vector<4x2xi32> into vector<4xi32>
  return %y : vector<4xi32>
}

// Two rows by two columns: SVE repeats the rows in every 128 bits. Without an instruction each element is multiplied in
// the lane of its sum.
// ALL-LABEL: func.func @patches(
// ALL-SAME: %[[X:[a-z0-9_]+]]: vector<16xi8>, %[[W:[a-z0-9_]+]]: vector<16xi8>, %[[ACC:[a-z0-9_]+]]: vector<4xi32>
// BF16: llvm.call_intrinsic "llvm.aarch64.neon.usmmla"(%[[ACC]], %[[X]], %[[W]]) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
// NOBF16-COUNT-8: arith.muli %{{.*}} : vector<4xi32>
// ALL-NOT: vector.contract
// ALL: return
func.func @patches(%x: vector<16xi8>, %w: vector<16xi8>, %acc: vector<4xi32>) -> vector<4xi32> {
  %xs = vector.shape_cast %x : vector<16xi8> to vector<2x8xi8>
  %ws = vector.shape_cast %w : vector<16xi8> to vector<1x2x8xi8>
  %s = vector.shape_cast %acc : vector<4xi32> to vector<1x2x2xi32>
  %a = arith.extui %xs : vector<2x8xi8> to vector<2x8xi32>
  %b = arith.extsi %ws : vector<1x2x8xi8> to vector<1x2x8xi32>
  %y = vector.contract #patch %a, %b, %s : vector<2x8xi32>, vector<1x2x8xi32> into vector<1x2x2xi32>
  %z = vector.shape_cast %y : vector<1x2x2xi32> to vector<4xi32>
  return %z : vector<4xi32>
}

// ALL-LABEL: func.func @longPatches(
// ALL-SAME: %[[X:[a-z0-9_]+]]: vector<8xbf16>, %[[W:[a-z0-9_]+]]: vector<16xbf16>
// SVEBF16: %[[AGAIN:[a-z0-9_]+]] = vector.shuffle %[[X]], %[[X]] [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
// SVEBF16: llvm.call_intrinsic "llvm.aarch64.sve.bfmmla"
// NOSVE-COUNT-4: arith.mulf %{{.*}} : vector<8xf32>
// ALL-NOT: vector.contract
// ALL: return
func.func @longPatches(%x: vector<8xbf16>, %w: vector<16xbf16>, %acc: vector<8xf32>) -> vector<8xf32> {
  %xs = vector.shape_cast %x : vector<8xbf16> to vector<2x4xbf16>
  %ws = vector.shape_cast %w : vector<16xbf16> to vector<2x2x4xbf16>
  %s = vector.shape_cast %acc : vector<8xf32> to vector<2x2x2xf32>
  %y = vector.contract #patch %xs, %ws, %s : vector<2x4xbf16>, vector<2x2x4xbf16> into vector<2x2x2xf32>
  %z = vector.shape_cast %y : vector<2x2x2xf32> to vector<8xf32>
  return %z : vector<8xf32>
}
