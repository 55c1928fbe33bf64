// Checks that the products of packed elements in a register of 32-bit lanes are one instruction: for four bytes,
// unsigned first; for pairs of bf16, which are also rounded from f32; and for pairs of 16-bit integers. An operand that
// is equal for all lanes is broadcast as a word, once. Products without an instruction are still a contraction.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=avx512_core_bf16}))' | FileCheck %s --check-prefixes=ALL,BYTES,HALVES,WORDS
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=avx512_core_vnni}))' | FileCheck %s --check-prefixes=ALL,BYTES,WORDS,NOHALVES
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,WORDS,NOBYTES,NOHALVES
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-dots{target=sse42}))' | FileCheck %s --check-prefixes=ALL,NOBYTES,NOHALVES,NOWORDS
#k = affine_map<(l, k) -> (k)>
#lk = affine_map<(l, k) -> (l, k)>
#l = affine_map<(l, k) -> (l)>
#dot = {indexing_maps = [#k, #lk, #l], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>}
#greatest = {indexing_maps = [#k, #lk, #l], iterator_types = ["parallel", "reduction"], kind = #vector.kind<maxsi>}
#each = {indexing_maps = [#lk, #lk, #l], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>}

// ALL-LABEL: func.func @bytes(
// BYTES-SAME: %[[X:[a-z0-9_]+]]: vector<4xi8>, %[[W:[a-z0-9_]+]]: vector<64xi8>, %[[ACC:[a-z0-9_]+]]: vector<16xi32>
// BYTES: %[[CAST:[a-z0-9_]+]] = vector.bitcast %[[X]] : vector<4xi8> to vector<1xi32>
// BYTES: %[[WORD:[a-z0-9_]+]] = vector.extract %[[CAST]][0]
// BYTES: %[[LANES:[a-z0-9_]+]] = vector.broadcast %[[WORD]] : i32 to vector<16xi32>
// BYTES: %[[EVERY:[a-z0-9_]+]] = vector.bitcast %[[LANES]]
// BYTES: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[ACC]], %[[EVERY]], %[[W]])
// BYTES-NOT: arith.ext
// NOBYTES: vector.contract
// ALL: return
func.func @bytes(%x: vector<4xi8>, %w: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %shaped = vector.shape_cast %w : vector<64xi8> to vector<16x4xi8>
  %a = arith.extui %x : vector<4xi8> to vector<4xi32>
  %b = arith.extsi %shaped : vector<16x4xi8> to vector<16x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<16x4xi32> into vector<16xi32>
  return %y : vector<16xi32>
}

// The unsigned operand comes first, in whatever order they were.
// ALL-LABEL: func.func @swapped(
// BYTES-SAME: %{{.*}}: vector<4xi8>, %[[W:[a-z0-9_]+]]: vector<64xi8>, %[[ACC:[a-z0-9_]+]]: vector<16xi32>
// BYTES: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[ACC]], %[[W]], %{{.*}})
// NOBYTES: vector.contract
func.func @swapped(%x: vector<4xi8>, %w: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %shaped = vector.shape_cast %w : vector<64xi8> to vector<16x4xi8>
  %a = arith.extsi %x : vector<4xi8> to vector<4xi32>
  %b = arith.extui %shaped : vector<16x4xi8> to vector<16x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<16x4xi32> into vector<16xi32>
  return %y : vector<16xi32>
}

// There is no instruction for two signed operands or for half a register.
// ALL-LABEL: func.func @signed(
// ALL: vector.contract
// ALL: return
func.func @signed(%x: vector<4xi8>, %w: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %shaped = vector.shape_cast %w : vector<64xi8> to vector<16x4xi8>
  %a = arith.extsi %x : vector<4xi8> to vector<4xi32>
  %b = arith.extsi %shaped : vector<16x4xi8> to vector<16x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<16x4xi32> into vector<16xi32>
  return %y : vector<16xi32>
}

// ALL-LABEL: func.func @narrow(
// ALL: vector.contract
// ALL: return
func.func @narrow(%x: vector<4xi8>, %w: vector<32xi8>, %acc: vector<8xi32>) -> vector<8xi32> {
  %shaped = vector.shape_cast %w : vector<32xi8> to vector<8x4xi8>
  %a = arith.extui %x : vector<4xi8> to vector<4xi32>
  %b = arith.extsi %shaped : vector<8x4xi8> to vector<8x4xi32>
  %y = vector.contract #dot %a, %b, %acc : vector<4xi32>, vector<8x4xi32> into vector<8xi32>
  return %y : vector<8xi32>
}

// A contraction that does not add is not a dot.
// ALL-LABEL: func.func @greatest(
// ALL: vector.contract
// ALL: return
func.func @greatest(%x: vector<4xi8>, %w: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %shaped = vector.shape_cast %w : vector<64xi8> to vector<16x4xi8>
  %a = arith.extui %x : vector<4xi8> to vector<4xi32>
  %b = arith.extsi %shaped : vector<16x4xi8> to vector<16x4xi32>
  %y = vector.contract #greatest %a, %b, %acc : vector<4xi32>, vector<16x4xi32> into vector<16xi32>
  return %y : vector<16xi32>
}

// The instruction rounds a pair from f32, and one broadcast serves both products.
// ALL-LABEL: func.func @halves(
// HALVES-SAME: %[[X:[a-z0-9_]+]]: vector<2xf32>, %[[W:[a-z0-9_]+]]: vector<32xbf16>, %[[V:[a-z0-9_]+]]: vector<32xbf16>, %[[ACC:[a-z0-9_]+]]: vector<16xf32>
// HALVES-NOT: arith.truncf
// HALVES: %[[FOUR:[a-z0-9_]+]] = vector.shuffle %[[X]], %[[X]] [0, 1, 0, 1]
// HALVES: %[[PAIR:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512bf16.mask.cvtneps2bf16.128"(%[[FOUR]]
// HALVES: vector.broadcast
// HALVES: %[[EVERY:[a-z0-9_]+]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<32xbf16>
// HALVES-NOT: vector.broadcast
// HALVES: %[[FIRST:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%[[ACC]], %[[EVERY]], %[[W]])
// HALVES: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%[[FIRST]], %[[EVERY]], %[[V]])
// NOHALVES-COUNT-2: vector.contract
// ALL: return
func.func @halves(%x: vector<2xf32>, %w: vector<32xbf16>, %v: vector<32xbf16>, %acc: vector<16xf32>) -> vector<16xf32> {
  %a = arith.truncf %x : vector<2xf32> to vector<2xbf16>
  %b = vector.shape_cast %w : vector<32xbf16> to vector<16x2xbf16>
  %c = vector.shape_cast %v : vector<32xbf16> to vector<16x2xbf16>
  %s = vector.contract #dot %a, %b, %acc : vector<2xbf16>, vector<16x2xbf16> into vector<16xf32>
  %y = vector.contract #dot %a, %c, %s : vector<2xbf16>, vector<16x2xbf16> into vector<16xf32>
  return %y : vector<16xf32>
}

// A register of f32 is rounded in halves, the second first.
// ALL-LABEL: func.func @rounded(
// HALVES-SAME: %{{.*}}, %[[W:[a-z0-9_]+]]: vector<32xf32>
// HALVES-NOT: arith.truncf
// HALVES: %[[HIGH:[a-z0-9_]+]] = vector.shuffle %[[W]], %[[W]] [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// HALVES: %[[LOW:[a-z0-9_]+]] = vector.shuffle %[[W]], %[[W]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// HALVES: %[[BOTH:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[HIGH]], %[[LOW]])
// HALVES: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %{{.*}}, %[[BOTH]])
// NOHALVES: vector.contract
// ALL: return
func.func @rounded(%x: vector<2xbf16>, %w: vector<32xf32>, %acc: vector<16xf32>) -> vector<16xf32> {
  %n = arith.truncf %w : vector<32xf32> to vector<32xbf16>
  %b = vector.shape_cast %n : vector<32xbf16> to vector<16x2xbf16>
  %y = vector.contract #dot %x, %b, %acc : vector<2xbf16>, vector<16x2xbf16> into vector<16xf32>
  return %y : vector<16xf32>
}

// Pairs of 16 bits are multiplied separately from the sum, on every instruction set with the register.
// ALL-LABEL: func.func @words(
// WORDS-SAME: %[[X:[a-z0-9_]+]]: vector<16x2xi16>, %[[W:[a-z0-9_]+]]: vector<16x2xi16>, %[[ACC:[a-z0-9_]+]]: vector<16xi32>
// WORDS-DAG: %[[A:[a-z0-9_]+]] = vector.shape_cast %[[X]] : vector<16x2xi16> to vector<32xi16>
// WORDS-DAG: %[[B:[a-z0-9_]+]] = vector.shape_cast %[[W]] : vector<16x2xi16> to vector<32xi16>
// WORDS: %[[PRODUCTS:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%[[A]], %[[B]])
// WORDS: arith.addi %[[ACC]], %[[PRODUCTS]]
// NOWORDS: vector.contract
// ALL: return
func.func @words(%x: vector<16x2xi16>, %w: vector<16x2xi16>, %acc: vector<16xi32>) -> vector<16xi32> {
  %a = arith.extsi %x : vector<16x2xi16> to vector<16x2xi32>
  %b = arith.extsi %w : vector<16x2xi16> to vector<16x2xi32>
  %y = vector.contract #each %a, %b, %acc : vector<16x2xi32>, vector<16x2xi32> into vector<16xi32>
  return %y : vector<16xi32>
}

// ALL-LABEL: func.func @quarter(
// ALL: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"
// ALL-NOT: vector.contract
// ALL: return
func.func @quarter(%x: vector<4x2xi16>, %w: vector<4x2xi16>, %acc: vector<4xi32>) -> vector<4xi32> {
  %a = arith.extsi %x : vector<4x2xi16> to vector<4x2xi32>
  %b = arith.extsi %w : vector<4x2xi16> to vector<4x2xi32>
  %y = vector.contract #each %a, %b, %acc : vector<4x2xi32>, vector<4x2xi32> into vector<4xi32>
  return %y : vector<4xi32>
}
