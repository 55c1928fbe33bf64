//===- DeviceArtifacts.cpp - Artifacts of the test kernels for a device ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"

#include "Primitives/Registry.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace quern::test {

std::string readTestSpirv() {
  std::ifstream file(QUERN_TEST_SPIRV, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string softmaxLine(const std::string &rows, int64_t length, const std::string &attributes) {
  const std::string tensor = concat("f32:", rows, "x", length, ":ab");
  return concat("softmax fwd_i src=", tensor, " dst=", tensor, " axis=1", attributes.empty() ? "" : " ", attributes);
}

std::string reorderLine(const std::string &rows, const std::string &fields) {
  const std::string tensor = concat("f32:", rows, "x", rowLength, ":ab");
  return concat("reorder src=", tensor, " dst=", tensor, " ", fields);
}

Artifact makeDeviceArtifact(const VerifiedProblem &problem, const Target &target, const char *entry, int64_t groups,
                            int32_t workItems) {
  Artifact artifact;
  artifact.codeKind = CodeKind::SpirV;
  artifact.descriptor = problem.desc.text();
  artifact.target = target.text();
  artifact.buildId = compilerBuildId();
  artifact.keyBytes = keyOf(problem.desc, target).bytes;
  artifact.plan = "test kernel";
  artifact.entries = {entry};
  artifact.groups = {{workItems, 0, 0}};
  artifact.steps = {{0, groups, /*nsPerIteration=*/100, {}}};
  for (const ArgumentInfo &argument : problem.arguments)
    artifact.arguments.push_back({argument.index, argument.isOutput, std::max<int64_t>(0, argument.desc.bytes())});
  artifact.code = readTestSpirv();
  return artifact;
}

Artifact addOne(const VerifiedProblem &problem, const Target &target) {
  return makeDeviceArtifact(problem, target, "add_one", problem.arguments[0].desc.dims[0]);
}

Artifact addTwoByRows(const VerifiedProblem &problem, const Target &target) {
  const TensorDesc &src = problem.arguments[0].desc;
  const bool isOpen = src.hasRuntimeDims();
  Artifact artifact = makeDeviceArtifact(problem, target, isOpen ? "add_one_open" : "add_one", 1);
  const int64_t known = isOpen ? 0 : src.dims[0];
  Polynomial rows(known), bytes(known * rowBytes), row;
  if (isOpen) {
    rows.terms = {{1, {symbolOfSize(0)}}};
    bytes.terms = {{rowBytes, {symbolOfSize(0)}}};
    artifact.sizeCount = 2;
  }
  row.terms = {{rowBytes, {0}}};
  artifact.regions = {bytes};
  artifact.loops = {{rows, 0, 1}, {rows, 1, 2}};
  artifact.steps = {{0, 1, 100, {}, {{0, row}, {2, row}}}, {0, 1, 100, {}, {{2, row}, {1, row}}}};
  return artifact;
}

Artifact addRows(const VerifiedProblem &problem, const Target &target) {
  Artifact artifact = makeDeviceArtifact(problem, target, "add_size", 1);
  artifact.sizeCount = 2;
  artifact.steps[0].factors = {{0, 1}};
  artifact.sharedScratchBytes = 1 << 20;
  return artifact;
}

std::vector<uint8_t> blobOf(const engine &device, const std::string &line, const DeviceRun::Maker &make) {
  quern_engine_info_t info{};
  error::wrap_c_api(quern_engine_get_info(device.get(), &info), "could not ask the engine");
  Result<Target> target = Target::parse(info.target);
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  if (!target || !desc)
    throw std::runtime_error(target ? desc.error().message : target.error().message);
  Result<VerifiedProblem> problem = verify(*desc, *target);
  if (!problem)
    throw std::runtime_error(problem.error().message);
  const std::string bytes = make(*problem, *target).serialize();
  return {bytes.begin(), bytes.end()};
}

namespace {

/// Returns the engine of a reorder's tensor; for other primitives, the device.
engine sideOf(const primitive_desc &desc, quern_query_t side, const engine &device) {
  quern_engine_t found = nullptr;
  return quern_primitive_desc_query(desc.get(), side, 0, &found) == quern_success ? engine(found, true) : device;
}

} // namespace

DeviceRun::DeviceRun(const engine &device, const std::string &line, const Maker &make, const std::string &shape)
    : desc(device, line), kernel(make ? primitive(desc, blobOf(device, line, make)) : primitive(desc)) {
  const primitive_desc sized(device, shape.empty() ? line : shape);
  src = memory(sized.src_desc(), sideOf(desc, quern_query_reorder_src_engine, device));
  dst = memory(sized.dst_desc(), sideOf(desc, quern_query_reorder_dst_engine, device));
  arguments = {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}};
}

void DeviceRun::fill(float first) {
  auto *elements = src.map_data<float>();
  for (size_t i = 0; i < src.get_desc().get_size() / sizeof(float); ++i)
    elements[i] = first + static_cast<float>(i);
  src.unmap_data(elements);
}

std::vector<float> DeviceRun::read(const memory &from) const {
  auto *elements = from.map_data<float>();
  std::vector<float> values(elements, elements + from.get_desc().get_size() / sizeof(float));
  from.unmap_data(elements);
  return values;
}

std::vector<float> DeviceRun::result() const { return read(dst); }

size_t DeviceRun::wrong(const std::function<float(float)> &expected) const {
  const std::vector<float> given = read(src), computed = result();
  size_t count = 0;
  for (size_t i = 0; i < computed.size(); ++i)
    count += computed[i] != expected(given[i]);
  return count;
}

std::string messageOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const error &failure) {
    return std::string(quern_status_name(failure.status)) + ": " + failure.what();
  }
  return "";
}

} // namespace quern::test
