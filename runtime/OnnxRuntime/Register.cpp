//===- Register.cpp - The function that ONNX Runtime calls ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Operator.h"

#include <mutex>
#include <string>
#include <vector>

namespace quern::onnxruntime {
namespace {

/// The domain `quern` of each ONNX Runtime in the process. Sessions use it until they end. No event reports the end of
/// the last session, so domains are never released.
class Domains {
public:
  OrtCustomOpDomain *get(const OrtApi &api) {
    const std::scoped_lock lock(mutex);
    for (const Entry &entry : entries)
      if (entry.api == &api)
        return entry.domain;
    entries.push_back({&api, nullptr});
    try {
      entries.back().domain = make(api);
    } catch (...) {
      entries.pop_back();
      throw;
    }
    return entries.back().domain;
  }

private:
  struct Entry {
    const OrtApi *api;
    OrtCustomOpDomain *domain;
  };

  static OrtCustomOpDomain *make(const OrtApi &api) {
    static const Operator operators[] = {{"Softmax", makeSoftmax},
                                         {"LogSoftmax", makeLogSoftmax},
                                         {"Eltwise", makeEltwise},
                                         {"Function", makeFunction, /*isVariadic=*/true}};
    OrtCustomOpDomain *domain = nullptr;
    check(api, api.CreateCustomOpDomain("quern", &domain));
    try {
      for (const Operator &op : operators)
        check(api, api.CustomOpDomain_Add(domain, &op));
    } catch (...) {
      api.ReleaseCustomOpDomain(domain);
      throw;
    }
    return domain;
  }

  std::mutex mutex;
  std::vector<Entry> entries;
};

} // namespace
} // namespace quern::onnxruntime

// NOLINTNEXTLINE(readability-identifier-naming): the name that ONNX Runtime looks up
extern "C" __attribute__((visibility("default"))) OrtStatus *RegisterCustomOps(OrtSessionOptions *options,
                                                                               const OrtApiBase *base) noexcept {
  using namespace quern::onnxruntime;
  const OrtApi *api = base->GetApi(apiVersion);
  if (!api) // every version has the functions of API version 1
    return base->GetApi(1)->CreateStatus(ORT_NOT_IMPLEMENTED, "quern: ONNX Runtime 1.16 or later is needed");
  try {
    static auto *const domains = new Domains; // never destroyed, like the domains
    check(*api, api->AddCustomOpDomain(options, domains->get(*api)));
    return nullptr;
  } catch (...) {
    return currentFailure(*api);
  }
}
