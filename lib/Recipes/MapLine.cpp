//===- MapLine.cpp - Lines and points -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Recipes/MapEmitter.h"
using namespace quern::maps;
void MapEmitter::emitLine(const Place &) {}
void MapEmitter::emitPoint(const Place &) {}
