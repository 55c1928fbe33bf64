//===- Locations.cpp - Source locations for messages ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Locations.h"

#include "mlir/IR/Location.h"

using namespace mlir;

std::string quern::functions::locationOf(Location location) {
  std::string place = "an unknown place";
  location->walk([&](Location part) {
    auto inFile = dyn_cast<FileLineColLoc>(part);
    if (!inFile)
      return WalkResult::advance();
    place = concat(inFile.getLine(), ":", inFile.getColumn());
    if (StringRef file = inFile.getFilename().getValue(); file != textName)
      place = concat(file.str(), ":", place);
    return WalkResult::interrupt();
  });
  return place;
}

std::string quern::functions::nameAndLocationOf(Operation *op) {
  return concat("'", op->getName().getStringRef().str(), "' at ", locationOf(op->getLoc()));
}
