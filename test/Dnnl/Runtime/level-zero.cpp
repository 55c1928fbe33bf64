// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a program written for oneDNN with Level Zero: an engine on its own context, also from a cache blob, and
// reorders between engines. oneDNN's build for these headers does not support GPUs.
//
// REQUIRES: onednn-3.13, intel-opencl
// UNSUPPORTED: emulated
// RUN: %onDevice %ours %s %t | FileCheck %s
// CHECK: blob 1 1, same id 1
// CHECK-NEXT: blob of another device: refused 1
// CHECK-NEXT: wrong 0, event 1
#include "oneapi/dnnl/dnnl_ze.hpp"

#include <cstdio>

using namespace dnnl;

// Loads the three functions of the Level Zero loader that the program needs, so it links with no other library.
#include <dlfcn.h>
template <typename F> F *loaderFunction(const char *name) {
  static void *loader = dlopen("libze_loader.so.1", RTLD_NOW);
  return reinterpret_cast<F *>(dlsym(loader, name));
}

int main() {
  uint32_t one = 1;
  ze_driver_handle_t driver;
  ze_device_handle_t device;
  ze_context_handle_t context;
  const ze_context_desc_t contextDesc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  loaderFunction<decltype(zeInit)>("zeInit")(0);
  loaderFunction<decltype(zeDriverGet)>("zeDriverGet")(&one, &driver);
  loaderFunction<decltype(zeDeviceGet)>("zeDeviceGet")(driver, &one, &device);
  loaderFunction<decltype(zeContextCreate)>("zeContextCreate")(driver, &contextDesc, &context);
  {
    const std::vector<uint8_t> id = ze_interop::get_engine_cache_blob_id(driver, device);
    std::vector<uint8_t> blob = ze_interop::get_engine_cache_blob(ze_interop::make_engine(driver, device, context));
    const bool sameId = id == ze_interop::get_engine_cache_blob_id(driver, device);
    std::printf("blob %d %d, same id %d\n", !id.empty(), !blob.empty(), sameId);
    const engine gpu = ze_interop::make_engine(driver, device, context, blob), cpu(engine::kind::cpu, 0);
    blob[0] ^= 1;
    try {
      ze_interop::make_engine(driver, device, context, blob);
    } catch (const error &failure) {
      std::printf("blob of another device: refused %d\n", failure.status == dnnl_invalid_arguments);
    }
    using tag = memory::format_tag;
    const memory::desc rows({6, 10}, memory::data_type::f32, tag::ab),
        columns({6, 10}, memory::data_type::f32, tag::ba);
    std::vector<float> values(60), back(60);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i);
    const memory src(rows, cpu, values.data()), there = ze_interop::make_memory(columns, gpu),
                                                dst(rows, cpu, back.data());
    stream order(gpu);
    reorder(src, there).execute(order, const_cast<memory &>(src), const_cast<memory &>(there));
    const ze_event_handle_t event =
        ze_interop::execute(reorder(there, dst), order, {{DNNL_ARG_FROM, there}, {DNNL_ARG_TO, dst}});
    order.wait();
    int wrong = 0;
    for (size_t i = 0; i < values.size(); ++i)
      wrong += values[i] != back[i];
    std::printf("wrong %d, event %d\n", wrong, event != nullptr);
  }
  loaderFunction<decltype(zeContextDestroy)>("zeContextDestroy")(context);
}
