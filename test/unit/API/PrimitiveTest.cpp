//===- PrimitiveTest.cpp - Primitive descriptors and primitives through the API ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests creation by arguments and by text, every query, and process-wide settings.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace quern {
namespace {

using dt = memory::data_type;

class PrimitiveTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  memory::desc md{{4, 16}, dt::f32, "ab"};
  softmax_forward::primitive_desc desc{device, prop_kind::forward_inference, algorithm::softmax_log, md, md, 1};

  template <typename T> T query(quern_query_t what) {
    T value{};
    EXPECT_EQ(quern_primitive_desc_query(desc.get(), what, 0, &value), quern_success) << what;
    return value;
  }
};

TEST_F(PrimitiveTest, Queries) {
  EXPECT_EQ(query<quern_engine_t>(quern_query_engine), device.get());
  EXPECT_EQ(query<quern_engine_t>(quern_query_scratchpad_engine), device.get());
  EXPECT_EQ(query<quern_primitive_kind_t>(quern_query_primitive_kind), quern_softmax);
  EXPECT_EQ(query<int>(quern_query_num_of_inputs_s32), 1);
  EXPECT_EQ(query<int>(quern_query_num_of_outputs_s32), 1);
  EXPECT_GT(query<double>(quern_query_time_estimate_f64), 0);
  EXPECT_GT(query<int64_t>(quern_query_memory_consumption_s64), 0);
  EXPECT_EQ(desc.get_prop_kind(), prop_kind::forward_inference);
  EXPECT_EQ(desc.get_algorithm(), algorithm::softmax_log);
  EXPECT_EQ(desc.get_axis(), 1);
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_axis_s32, 0), 1);
  EXPECT_EQ(std::string(desc.impl_info_str()).substr(0, 4), "jit:");
  EXPECT_EQ(desc.get_cache_blob_id().size(), static_cast<size_t>(query<int64_t>(quern_query_cache_blob_id_size_s64)));
  EXPECT_EQ(desc.src_desc(), md);
  EXPECT_EQ(desc.dst_desc(), md);
  EXPECT_TRUE(desc.src_desc(1).is_zero());
  EXPECT_TRUE(desc.weights_desc().is_zero());
  EXPECT_TRUE(desc.workspace_desc().is_zero());
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_DST), md);
  EXPECT_TRUE(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_BIAS).is_zero());
  int direction;
  EXPECT_EQ(quern_primitive_desc_query(desc.get(), quern_query_direction, 0, &direction), quern_unimplemented);
  const_quern_memory_desc_t none;
  EXPECT_EQ(quern_primitive_desc_query(desc.get(), quern_query_diff_src_md, 0, &none), quern_success);
  EXPECT_EQ(quern_memory_desc_get_size(none), 0u);
  EXPECT_FALSE(desc.next_impl());
}

TEST_F(PrimitiveTest, ReplacesAnyByTheChosenLayout) {
  memory::desc src({4, 16}, dt::f32, "ba"), any({4, 16}, dt::bf16, "any");
  softmax_forward::primitive_desc resolved(device, prop_kind::forward_training, algorithm::softmax_accurate, src, any,
                                           0);
  EXPECT_EQ(resolved.dst_desc(), memory::desc({4, 16}, dt::bf16, "ba"));
}

TEST_F(PrimitiveTest, TextForm) {
  primitive_desc again(device, desc.text());
  EXPECT_EQ(again.text(), desc.text());
  EXPECT_EQ(again.get_cache_blob_id(), desc.get_cache_blob_id());
  EXPECT_EQ(test::statusOf([&] { primitive_desc(device, "softmax fwd_i alg=nonsense"); }), quern_invalid_arguments);
  const std::string message = quern_get_last_error_message();
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 2) << message;
  EXPECT_NE(message.find('^'), std::string::npos) << message;
  EXPECT_FALSE(primitive_desc(device, "nothing", /*allow_empty=*/true));
}

TEST_F(PrimitiveTest, CloneAndAttributes) {
  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  softmax_forward::primitive_desc user(device, prop_kind::forward, algorithm::softmax_log, md, md, 1, attr);
  attr.set_scratchpad_mode(scratchpad_mode::library);
  EXPECT_EQ(user.get_primitive_attr().get_scratchpad_mode(), scratchpad_mode::user) << "attributes are copied";
  quern_primitive_desc_t raw = nullptr;
  ASSERT_EQ(quern_primitive_desc_clone(&raw, user.get()), quern_success);
  primitive_desc clone(raw);
  user = {};
  EXPECT_EQ(clone.get_primitive_attr().get_scratchpad_mode(), scratchpad_mode::user);
  primitive kernel(clone);
  const_quern_primitive_desc_t kernelDesc = nullptr;
  ASSERT_EQ(quern_primitive_get_primitive_desc(kernel.get(), &kernelDesc), quern_success);
  const char *text = nullptr;
  ASSERT_EQ(quern_primitive_desc_get_text(kernelDesc, &text), quern_success);
  EXPECT_EQ(text, clone.text());
}

TEST_F(PrimitiveTest, UnsupportedIsRefusedWithAReason) {
  primitive_attr scaled;
  scaled.set_scales_mask(QUERN_ARG_DST, 2);
  memory::desc integers({4, 16}, dt::s32, "ab");
  const auto refused = [&](const memory::desc &src, const memory::desc &dst, const primitive_attr &attr) {
    quern_status_t status = test::statusOf([&] {
      softmax_forward::primitive_desc(device, prop_kind::forward, algorithm::softmax_accurate, src, dst, 1, attr);
    });
    EXPECT_NE(std::string(quern_get_last_error_message()), "");
    return status;
  };
  EXPECT_EQ(refused(md, md, scaled), quern_unimplemented);
  EXPECT_EQ(refused(integers, md, {}), quern_unimplemented);
  EXPECT_EQ(refused(md, integers, {}), quern_unimplemented);
  EXPECT_EQ(test::statusOf(
                [&] { softmax_backward::primitive_desc(device, algorithm::softmax_log, md, integers, md, 1, desc); }),
            quern_unimplemented);
  EXPECT_EQ(test::statusOf(
                [&] { softmax_backward::primitive_desc(device, algorithm::softmax_accurate, md, md, md, 1, desc); }),
            quern_invalid_arguments); // the hint is of softmax_log
  EXPECT_EQ(test::statusOf([&] { reorder::primitive_desc(device, md, device, integers); }), quern_success);
}

TEST_F(PrimitiveTest, CompileAndExplain) {
  const std::string line = test::lineOf(4);
  for (quern_code_form_t form : {quern_form_emit, quern_form_lower, quern_form_object, quern_form_artifact})
    EXPECT_FALSE(compile(line, form, "avx2").empty());
  EXPECT_FALSE(compile(line, quern_form_artifact).empty());
  quern_blob_t blob = nullptr;
  ASSERT_EQ(quern_explain(line.c_str(), nullptr, &blob), quern_success);
  const void *data = nullptr;
  size_t size = 0;
  ASSERT_EQ(quern_blob_get_data(blob, &data, &size), quern_success);
  EXPECT_EQ(std::strlen(static_cast<const char *>(data)), size);
  EXPECT_EQ(quern_blob_destroy(blob), quern_success);
}

TEST_F(PrimitiveTest, CacheCapacity) {
  int capacity = 0;
  size_t bytes = 0;
  ASSERT_EQ(quern_get_primitive_cache_capacity(&capacity), quern_success);
  EXPECT_EQ(capacity, 1024);
  ASSERT_EQ(quern_get_primitive_cache_capacity_bytes(&bytes), quern_success);
  EXPECT_EQ(bytes, size_t(256) << 20);
  test::ScopedCaches::emptyMemory();
  const quern_cache_statistics_t before = test::statistics();
  primitive first(desc), second(desc);
  EXPECT_EQ(first.info().origin, quern_origin_compiled);
  EXPECT_EQ(second.info().origin, quern_origin_memory);
  const quern_cache_statistics_t after = test::statistics();
  EXPECT_EQ(after.memory_misses, before.memory_misses + 1);
  EXPECT_EQ(after.memory_hits, before.memory_hits + 1);
  EXPECT_EQ(after.memory_entries, 1u);
  EXPECT_GT(after.memory_bytes, 0u);
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(test::statistics().memory_entries, 0u);
}

TEST(Settings, EnginesThreadsAndVersion) {
  EXPECT_EQ(quern_engine_get_count(quern_cpu), 1u);
  EXPECT_EQ(engine::get_count(engine::kind::gpu), 0u);
  EXPECT_EQ(engine(engine::kind::cpu, 0).get_kind(), engine::kind::cpu);
  EXPECT_NE(quern_version()->hash, nullptr);
  EXPECT_GE(get_num_threads(), 1);
  EXPECT_NE(quern_get_effective_cpu_isa(), quern_cpu_isa_default);
  EXPECT_EQ(quern_set_max_cpu_isa(quern_cpu_isa_avx2), quern_invalid_arguments)
      << "the instruction set is already in use";
  EXPECT_STREQ(quern_status_name(quern_unimplemented), "unimplemented");
  EXPECT_EQ(quern_set_disk_cache_capacity(1 << 20), quern_success);
  EXPECT_EQ(quern_set_verbose(0), quern_success);
}

TEST_F(PrimitiveTest, HasAKindForProducts) {
  const primitive_desc product(device, "gemm src=f32:4x8:ab weights=f32:8x5:ab dst=f32:4x5:ab");
  EXPECT_EQ(product.get_kind(), primitive::kind::gemm);
  quern_primitive_kind_t kind = quern_undefined_primitive;
  EXPECT_EQ(quern_primitive_desc_query(product.get(), quern_query_primitive_kind, 0, &kind), quern_success);
  EXPECT_EQ(kind, quern_gemm);
}

/// The message of a late call names the level that Quern has for the value.
TEST(Settings, InstructionSetsOfBothArchitectures) {
  EXPECT_NE(get_effective_cpu_isa(), cpu_isa::isa_default);
  const std::pair<cpu_isa, const char *> levels[] = {
      {cpu_isa::sse41, "sse42"},
      {cpu_isa::avx2_vnni, "avx2"},
      {cpu_isa::avx512_core_amx, "avx512_core_amx"},
      {cpu_isa::neon, "neon"},
      {cpu_isa::neon_dotprod, "neon_dotprod"},
      {cpu_isa::neon_bf16, "neon_bf16"},
      {cpu_isa::sve, "sve"},
      {cpu_isa::sve_bf16, "sve_bf16"},
  };
  for (const auto &[level, name] : levels) {
    EXPECT_EQ(set_max_cpu_isa(level), status::invalid_arguments);
    EXPECT_NE(std::string(quern_get_last_error_message()).find("capped to " + std::string(name) + ":"),
              std::string::npos);
  }
  EXPECT_EQ(set_max_cpu_isa(static_cast<cpu_isa>(quern_cpu_isa_sve & ~quern_cpu_isa_neon)), status::invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(), "instruction set 0x8000000 is not one of quern_cpu_isa_t");
}

/// Limits the process to the lowest level of each architecture; the one of this architecture must be in effect.
[[noreturn]] void exitWithLowestLevels() {
#ifdef __x86_64__
  constexpr cpu_isa lowest = cpu_isa::sse41, foreign = cpu_isa::neon;
#else
  constexpr cpu_isa lowest = cpu_isa::neon, foreign = cpu_isa::sse41;
#endif
  const bool isSet = set_max_cpu_isa(lowest) == status::success && set_max_cpu_isa(foreign) == status::success;
  std::exit(isSet && get_effective_cpu_isa() == lowest ? 0 : 1);
}

TEST(SettingsDeathTest, LevelOfAnotherArchitectureHasNoEffect) {
  // Programs in an emulator cannot start themselves.
  GTEST_FLAG_SET(death_test_style, *QUERN_EMULATOR ? "fast" : "threadsafe");
  EXPECT_EXIT(exitWithLowestLevels(), testing::ExitedWithCode(0), "");
}

/// The statuses that have a name are the enumerators of the C++ API.
TEST(Statuses, HaveTheSameEnumeratorsInCpp) {
  constexpr status all[] = {status::success,       status::out_of_memory,     status::invalid_arguments,
                            status::unimplemented, status::last_impl_reached, status::runtime_error,
                            status::not_required,  status::internal_error};
  for (int value = 0; value < 256; ++value) {
    const bool isNamed = std::string(quern_status_name(static_cast<quern_status_t>(value))) != "unknown";
    EXPECT_EQ(std::count(std::begin(all), std::end(all), static_cast<status>(value)), isNamed ? 1 : 0) << value;
  }
  EXPECT_STREQ(quern_status_name(quern_internal_error), "internal_error");
}

TEST(Settings, VerboseLines) {
  engine device(engine::kind::cpu, 0);
  stream order(device);
  testing::internal::CaptureStdout();
  quern_set_verbose(2);
  test::Run run(device, test::lineOf(3));
  run.execute(order);
  quern_set_verbose(0);
  run.execute(order);
  const std::string output = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 3) << output;
  EXPECT_NE(output.find("quern,compile,"), std::string::npos);
  EXPECT_NE(output.find("quern,create,"), std::string::npos);
  EXPECT_NE(output.find("quern,exec,cpu,softmax,"), std::string::npos);
  EXPECT_NE(output.find(run.desc.text()), std::string::npos);
}

TEST(PrimitiveDesc, ReportsWhichLayoutsWereChosen) {
  engine device(engine::kind::cpu, 0);
  const memory::desc any({4, 8}, memory::data_type::f32, "any"), given({4, 8}, memory::data_type::f32, "ab");
  softmax_backward::primitive_desc backward(device, algorithm::softmax_accurate, any, given, given, 1,
                                            softmax_forward::primitive_desc());
  EXPECT_EQ(quern_primitive_desc_chose_layout(backward.get(), QUERN_ARG_DIFF_SRC), 1);
  EXPECT_EQ(quern_primitive_desc_chose_layout(backward.get(), QUERN_ARG_DIFF_DST), 0);
  EXPECT_EQ(quern_primitive_desc_chose_layout(backward.get(), QUERN_ARG_DST), 0);
  EXPECT_EQ(quern_primitive_desc_chose_layout(backward.get(), QUERN_ARG_SRC), 0) << "the problem has no src";
  EXPECT_EQ(quern_primitive_desc_chose_layout(nullptr, QUERN_ARG_SRC), 0);
}

/// Appends the text of an event to the string `context`.
void note(void *context, const quern_event_t *event) {
  std::string &heard = *static_cast<std::string *>(context);
  const char *text = "";
  if (event->primitive_desc)
    quern_primitive_desc_get_text(event->primitive_desc, &text);
  heard += concat(event->kind == quern_event_create    ? "create"
                  : event->kind == quern_event_execute ? "execute"
                                                       : "fail",
                  " ", text, event->function ? event->function : "", " ", event->message ? event->message : "", " ",
                  event->nargs, "\n");
  quern_engine_destroy(nullptr);
  EXPECT_EQ(quern_set_num_threads(0), quern_invalid_arguments) << "calls inside a listener are not reported";
}

TEST(Settings, Listeners) {
  engine device(engine::kind::cpu, 0);
  stream order(device);
  std::string all, failures;
  ASSERT_EQ(quern_set_listener(note, &all, quern_event_create | quern_event_execute | quern_event_fail), quern_success);
  ASSERT_EQ(quern_set_listener(note, &failures, quern_event_fail), quern_success);
  test::Run run(device, test::lineOf(5));
  run.execute(order);
  EXPECT_EQ(quern_set_num_threads(5000), quern_invalid_arguments);
  const std::string message = quern_get_last_error_message();
  EXPECT_NE(message.find("5000"), std::string::npos) << message;
  ASSERT_EQ(quern_set_listener(note, &all, 0), quern_success);
  ASSERT_EQ(quern_set_listener(note, &failures, 0), quern_success);
  run.execute(order);
  EXPECT_EQ(quern_set_num_threads(5000), quern_invalid_arguments);
  const std::string line(run.desc.text()), failed = "fail quern_set_num_threads " + message + " 0\n";
  EXPECT_EQ(all, "create " + line + "  0\nexecute " + line + "  2\n" + failed);
  EXPECT_EQ(failures, failed);
}

} // namespace
} // namespace quern
