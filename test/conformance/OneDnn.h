//===- OneDnn.h - Genuine oneDNN, opened at run time ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Any oneDNN 3.x through dlopen and the few functions of its C API that are needed, so that one program serves every version and none is
// needed to build. Enumerations have Quern's values, which are oneDNN's.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_ONEDNN_H
#define QUERN_CONFORMANCE_ONEDNN_H

#include "Desc/PrimitiveDesc.h"

#include <memory>

namespace quern {

class OneDnn {
public:
  /// `root` is the library, or a directory with lib/libdnnl.so.3 as tools/peers.sh makes it.
  static Result<std::unique_ptr<OneDnn>> open(const std::string &root);
  ~OneDnn();

  /// Forward softmax of finite data from `src` into `dst`, buffers laid out as the descriptors say. `unimplemented` if oneDNN refuses the
  /// problem.
  Result<void> run(const PrimitiveDesc &desc, void *src, void *dst) const;
  std::string version() const;

private:
  struct Functions;
  OneDnn() = default;
  std::unique_ptr<Functions> api;
  void *engine = nullptr, *stream = nullptr;
};

} // namespace quern

#endif // QUERN_CONFORMANCE_ONEDNN_H
