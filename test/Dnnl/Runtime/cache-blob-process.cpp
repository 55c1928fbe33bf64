// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a cache blob that one process writes to a file and another creates its primitive from, by the id of the
// problem. oneDNN has blobs only for GPU kernels.
//
// REQUIRES: onednn-3.13
// UNSUPPORTED: emulated
// RUN: %ours %s %t | FileCheck %s
// CHECK: softmax in process 1: [[SOFTMAX:.*]]
// CHECK-NEXT: reorder in process 1: [[REORDER:.*]]
// CHECK-NEXT: softmax in process 2: [[SOFTMAX]]
// CHECK-NEXT: reorder in process 2: [[REORDER]]
// CHECK-NEXT: foreign: status 2
// CHECK-NEXT: no bytes: status 2
// CHECK-NEXT: process 2 ended with 0
#include "values.hpp"

#include <fstream>
#include <iterator>
#include <spawn.h>
#include <string>
#include <sys/wait.h>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

extern char **environ;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
const memory::desc rows({5, 40}, type::f32, tag::ab), turned({5, 40}, type::f32, tag::ba);

softmax_forward::primitive_desc softmaxProblem() {
  post_ops ops;
  ops.append_eltwise(algorithm::eltwise_linear, 2, -1);
  primitive_attr attr;
  attr.set_post_ops(ops);
  return {eng, prop_kind::forward_inference, algorithm::softmax_accurate, rows, rows, 1, attr};
}

void run(const char *name, int process, const primitive &made, const memory::desc &to) {
  memory src = makeMemory(eng, rows, 1), dst(to, eng);
  made.execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  strm.wait();
  std::printf("%s in process %d", name, process);
  print("", read<float>(dst));
}

/// The id of a problem determines the name of its file, like in a cache.
std::string fileOf(const std::string &folder, const std::vector<uint8_t> &id) {
  return folder + "." + std::to_string(std::hash<std::string>()(std::string(id.begin(), id.end())));
}

std::vector<uint8_t> load(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename Problem> void store(const std::string &folder, const Problem &problem, const primitive &made) {
  const std::vector<uint8_t> blob = made.get_cache_blob();
  std::ofstream file(fileOf(folder, problem.get_cache_blob_id()), std::ios::binary);
  file.write(reinterpret_cast<const char *>(blob.data()), static_cast<std::streamsize>(blob.size()));
}

int second(const std::string &folder) {
  const auto softmax = softmaxProblem();
  const reorder::primitive_desc change(eng, rows, eng, turned);
  const std::vector<uint8_t> softmaxBlob = load(fileOf(folder, softmax.get_cache_blob_id()));
  run("softmax", 2, softmax_forward(softmax, softmaxBlob), rows);
  run("reorder", 2, reorder(change, load(fileOf(folder, change.get_cache_blob_id()))), turned);
  attempt("foreign", [&] { reorder(change, softmaxBlob); });
  attempt("no bytes", [&] { reorder(change, std::vector<uint8_t>()); });
  return 0;
}

} // namespace

int main(int count, char **arguments) {
  if (count > 1)
    return second(arguments[1]);
  std::string folder = std::string(arguments[0]) + ".blob";
  const auto softmax = softmaxProblem();
  const reorder::primitive_desc change(eng, rows, eng, turned);
  const softmax_forward softmaxPrimitive(softmax);
  const reorder changePrimitive(change);
  run("softmax", 1, softmaxPrimitive, rows);
  run("reorder", 1, changePrimitive, turned);
  store(folder, softmax, softmaxPrimitive);
  store(folder, change, changePrimitive);
  std::fflush(stdout);
  char *child[] = {arguments[0], folder.data(), nullptr};
  pid_t id = 0;
  int status = -1;
  if (posix_spawn(&id, "/proc/self/exe", nullptr, nullptr, child, environ) == 0)
    waitpid(id, &status, 0);
  std::printf("process 2 ended with %d\n", status);
  return 0;
}
