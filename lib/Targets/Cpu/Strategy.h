//===- Strategy.h - Strategies of CPU targets for the recipes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function per recipe, which fills its strategy from the instruction set and the cache sizes of the target. Pure
// functions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_STRATEGY_H
#define QUERN_TARGETS_CPU_STRATEGY_H

#include "Desc/Target.h"
#include "Schedule/Contraction/Contraction.h"
#include "Schedule/Map/Map.h"
#include "Schedule/Rows/Rows.h"

namespace quern {

ContractionStrategy contractionStrategyFor(const Target &target);
MapStrategy mapStrategyFor(const Target &target);
RowsStrategy rowsStrategyFor(const Target &target);

} // namespace quern

#endif // QUERN_TARGETS_CPU_STRATEGY_H
