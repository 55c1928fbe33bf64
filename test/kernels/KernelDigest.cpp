//===- KernelDigest.cpp - Digests of a kernel -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelDigest.h"

#include "CodeBytes.h"
#include "Crash.h"
#include "Kernel.h"
#include "Problem.h"
#include "Support/Digest.h"

namespace quern {
namespace {

constexpr std::string_view refused = "refused", failed = "failed", reasonMark = " # ";

std::string shortDigest(std::string_view bytes) { return digestOf(bytes).hex().substr(0, 16); }

/// Returns the first line, without the caret under the problem.
std::string firstLine(const std::string &message) { return message.substr(0, message.find('\n')); }

/// Returns the artifact without the problem, target, key, build id, plan and code: the launch data remains.
std::string programBytes(Artifact artifact) {
  for (std::string *text :
       {&artifact.descriptor, &artifact.target, &artifact.buildId, &artifact.keyBytes, &artifact.plan, &artifact.code})
    text->clear();
  return artifact.serialize();
}

Result<void> compile(KernelDigest &digest) {
  Result<ParsedProblem> problem = readProblem(digest.request.line, digest.request.target);
  if (!problem)
    return problem.takeError();
  Result<std::string> bytes = compileTo(problem->text, digest.request.target, quern_form_artifact);
  if (!bytes)
    return bytes.takeError();
  Result<Artifact> artifact = Artifact::parse(*bytes);
  if (!artifact)
    return artifact.takeError();
  Result<std::string> code = codeBytesOf(*artifact);
  if (!code)
    return code.takeError();
  digest.code = shortDigest(*code);
  digest.plan = shortDigest(concat(problem->verified.implementation, "; ", artifact->plan));
  digest.program = shortDigest(programBytes(std::move(*artifact)));
  return {};
}

bool isRefusal(Status status) {
  return status == Status::Unimplemented || status == Status::InvalidArguments || status == Status::NotRequired;
}

/// Removes the next word and the space after it from `text`; returns the word.
std::string_view takeWord(std::string_view &text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

} // namespace

std::string KernelDigest::text() const {
  return concat(code, ' ', isCompiled() ? plan : "-", ' ', isCompiled() ? program : "-", ' ', request.target, ' ',
                request.line, isCompiled() ? "" : reasonMark, reason);
}

std::optional<KernelDigest> KernelDigest::parse(std::string_view line) {
  KernelDigest digest;
  for (std::string *word : {&digest.code, &digest.plan, &digest.program, &digest.request.target})
    *word = takeWord(line);
  const size_t mark = line.find(reasonMark);
  digest.request.line = line.substr(0, mark);
  if (mark != line.npos)
    digest.reason = line.substr(mark + reasonMark.size());
  const bool hasCode = digest.code != refused && digest.code != failed;
  const bool isRight = !digest.request.line.empty() && hasCode == digest.isCompiled();
  return isRight ? std::optional(std::move(digest)) : std::nullopt;
}

KernelDigest digestKernel(const KernelRequest &request) {
  RunningCase running(concat("quern compile '", request.line, "' --target=", request.target, " -o kernel"));
  KernelDigest digest;
  digest.request = request;
  if (Result<void> done = compile(digest); !done) {
    digest.code = isRefusal(done.error().status) ? refused : failed;
    digest.reason = firstLine(done.error().message);
  }
  return digest;
}

} // namespace quern
