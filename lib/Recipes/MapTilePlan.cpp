//===- MapTilePlan.cpp - The shape of tiles and the order of their loops --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Nothing is transposed in tiles yet: such maps go as lines whose source lanes are collected.
//
//===----------------------------------------------------------------------===//
#include "Recipes/MapPlan.h"

using namespace quern::maps;

bool quern::maps::planTile(MapPlan &) { return false; }

void quern::maps::orderTileLoops(MapPlan &) {}
