//===- CacheRemote.cpp - quern cache and servers --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keys, and transfer of kernels between the disk cache and a server of the remote cache (docs/fleet.md). Kernels that
// exist at the destination are skipped, so an interrupted command can be repeated.
//
//===----------------------------------------------------------------------===//
#include "CacheRemote.h"

#include "Cache/Disk.h"
#include "Cache/RemoteLibrary.h"
#include "Json.h"
#include "Kernel.h"
#include "Output.h"
#include "Primitives/Registry.h"
#include "Problem.h"

#include <dlfcn.h>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

namespace quern {
namespace {

struct RemoteOptions {
  std::string server, directory, filter, problems, output;
  std::vector<std::string> targets;
};

/// Returns the path of libquern-remote: next to libquern, unless the environment names another one. The command never
/// changes its working directory.
Result<std::string> remoteLibrary() {
  constexpr const char *name = "libquern-remote.so.0";
  if (const char *path = secure_getenv("QUERN_REMOTE_LIBRARY"); path && *path) {
    if (path[0] != '/')
      return invalidArguments("QUERN_REMOTE_LIBRARY is '", path, "'; it must be an absolute path");
    return std::string(path);
  }
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&quern_version), &info) || !info.dli_fname)
    return runtimeError("cannot find where libquern was loaded from; set QUERN_REMOTE_LIBRARY to the path of ", name);
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::absolute(info.dli_fname, failed);
  return (self.parent_path() / name).string();
}

Result<std::unique_ptr<Remote>> openRemote(const std::string &server) {
  QUERN_ASSIGN_OR_RETURN(RemoteConfig config, RemoteConfig::fromEnvironment());
  config.servers = server;
  Result<std::string> library = remoteLibrary();
  return library ? Remote::open(*library, config) : Result<std::unique_ptr<Remote>>(library.takeError());
}

Result<std::unique_ptr<DiskCache>> openDisk(const RemoteOptions &options) {
  const char *inUse = "";
  QUERN_RETURN_IF_ERROR(checked(quern_get_disk_cache(&inUse)));
  auto cache = std::make_unique<DiskCache>(options.directory.empty() ? inUse : options.directory);
  if (cache->isOff())
    return invalidArguments("the disk cache is off (QUERN_CACHE_DIR); name a directory with --dir");
  QUERN_RETURN_IF_ERROR(cache->check());
  return cache;
}

RemoteKey keyOf(const Artifact &artifact) {
  return {artifact.keyBytes, artifact.target, artifact.buildId, artifact.descriptor};
}

bool isWanted(const RemoteOptions &options, const Artifact &artifact) {
  return artifact.descriptor.find(options.filter) != std::string::npos ||
         artifact.target.find(options.filter) != std::string::npos;
}

/// Numbers of transferred kernels by outcome.
struct Moved {
  size_t moved = 0, present = 0, missing = 0, failed = 0;
  size_t foreign = 0; ///< came from a server, so this host does not sign them
  std::string firstFailure;
  void fail(const Error &error) {
    if (failed++ == 0)
      firstFailure = error.message;
  }
};

int finish(const Moved &moved, const char *what, const std::string &where) {
  std::cout << moved.moved << ' ' << what << ", " << moved.present << " already there";
  if (moved.missing)
    std::cout << ", " << moved.missing << " not there";
  if (moved.foreign)
    std::cout << ", " << moved.foreign << " of other hosts";
  std::cout << ", " << moved.failed << " failed; " << where << '\n';
  return moved.failed ? reportError(runtimeError(moved.firstFailure)) : exitOk;
}

Result<Moved> pushAll(const RemoteOptions &options, DiskCache &disk, Remote &remote) {
  QUERN_ASSIGN_OR_RETURN(std::vector<DiskCacheFile> files, disk.list());
  Moved moved;
  ProgressBar progress("pushing", files.size());
  for (const DiskCacheFile &file : files) {
    progress.advance();
    Result<DiskCache::Stored> stored = disk.read(file.name);
    Result<Artifact> artifact = stored ? Artifact::parse(stored->bytes) : Result<Artifact>(stored.takeError());
    if (!artifact || !isWanted(options, *artifact)) // `quern cache verify` reports damaged kernels
      continue;
    if (stored->origin) {
      moved.foreign += 1;
      continue;
    }
    const RemoteKey key = keyOf(*artifact);
    Result<bool> isThere = remote.contains(key);
    Result<void> pushed = isThere ? Result<void>() : Result<void>(isThere.takeError());
    if (pushed && !*isThere)
      pushed = remote.store(key, stored->bytes);
    if (!pushed)
      moved.fail(pushed.error());
    else
      (*isThere ? moved.present : moved.moved) += 1;
  }
  return moved;
}

void keep(Moved &moved, DiskCache &disk, const KernelKey &key, const RemoteArtifact &artifact) {
  if (Result<void> stored = disk.store(key, artifact.bytes, &artifact.origin); !stored)
    moved.fail(stored.error());
  else
    moved.moved += 1;
}

/// A problem to fetch.
struct WantedProblem {
  std::string line, target; ///< in the form of Target::parse()
};

/// Parses the output of `quern pack list --json`: problems, each with its target.
Result<std::vector<WantedProblem>> readPackList(const std::string &text) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Json *artifacts = list.is_object() && list.contains("artifacts") ? &list["artifacts"] : nullptr;
  if (!artifacts || !artifacts->is_array())
    return invalidArguments("the file is not a list of a pack (`quern pack list --json`)");
  std::vector<WantedProblem> wanted;
  for (const Json &artifact : *artifacts) {
    const std::string problem = artifact.value("problem", ""), target = artifact.value("target", "");
    if (problem.empty() || target.empty())
      return invalidArguments("the list of a pack has an artifact without a problem or target");
    wanted.push_back({problem, target});
  }
  return wanted;
}

/// Returns the problems of a problem file for the requested targets, or those of a pack's list.
Result<std::vector<WantedProblem>> wantedProblems(const RemoteOptions &options) {
  QUERN_ASSIGN_OR_RETURN(std::string text, readFile(options.problems));
  if (const size_t first = text.find_first_not_of(" \t\r\n"); first != std::string::npos && text[first] == '{')
    return readPackList(text);
  QUERN_ASSIGN_OR_RETURN(std::vector<std::string> lines, readProblemFile(options.problems));
  std::vector<WantedProblem> wanted;
  for (const std::string &target : options.targets.empty() ? std::vector<std::string>{"native"} : options.targets)
    for (const std::string &line : lines)
      wanted.push_back({line, target});
  return wanted;
}

/// Fetches one problem unless the disk has it, and counts the outcome.
void pullOne(Moved &moved, const WantedProblem &wanted, DiskCache &disk, Remote &remote) {
  Result<Target> target = Target::parse(wanted.target);
  Result<ParsedProblem> problem =
      target ? readProblem(wanted.line, *target) : Result<ParsedProblem>(target.takeError());
  if (!problem)
    return moved.fail(problem.error());
  const KernelKey key = quern::keyOf(problem->desc(), *target);
  if (disk.lookup(key, [&](const quern_remote_origin &origin) { return remote.believes(origin); })) {
    moved.present += 1;
    return;
  }
  Result<std::optional<RemoteArtifact>> bytes =
      remote.fetch({key.bytes, target->text(), std::string(compilerBuildId()), problem->desc().text()});
  if (!bytes)
    moved.fail(bytes.error());
  else if (!*bytes)
    moved.missing += 1;
  else
    keep(moved, disk, key, **bytes);
}

Result<Moved> pullProblems(const RemoteOptions &options, DiskCache &disk, Remote &remote) {
  QUERN_ASSIGN_OR_RETURN(std::vector<WantedProblem> wanted, wantedProblems(options));
  Moved moved;
  ProgressBar progress("pulling", wanted.size());
  for (const WantedProblem &one : wanted) {
    progress.advance();
    if ((one.target + ' ' + one.line).find(options.filter) != std::string::npos)
      pullOne(moved, one, disk, remote);
  }
  return moved;
}

/// Fetches all kernels that were stored with names, for any target.
Result<Moved> pullNamed(const RemoteOptions &options, DiskCache &disk, Remote &remote) {
  std::vector<std::string> names;
  QUERN_RETURN_IF_ERROR(remote.list([&](std::string_view name) { names.emplace_back(name); }));
  Moved moved;
  ProgressBar progress("pulling", names.size());
  for (const std::string &name : names) {
    progress.advance();
    Result<std::optional<RemoteArtifact>> bytes = remote.fetchNamed(name);
    if (!bytes) {
      moved.fail(bytes.error());
      continue;
    }
    if (!*bytes) // removed in the meantime, or not the name of a kernel
      continue;
    Result<Artifact> artifact = Artifact::parse((*bytes)->bytes);
    if (!artifact || artifact->keyBytes.empty()) { // without its key bytes, a kernel can only be found by its problem
      moved.missing += 1;
      continue;
    }
    const KernelKey key{artifact->keyBytes, digestOf(artifact->keyBytes)};
    if (!isWanted(options, *artifact))
      continue;
    if (disk.lookup(key, [&](const quern_remote_origin &origin) { return remote.believes(origin); }))
      moved.present += 1;
    else
      keep(moved, disk, key, **bytes);
  }
  return moved;
}

enum Direction : unsigned { push = 1, pull = 2 };

int move(const RemoteOptions &options, unsigned directions) {
  Result<std::unique_ptr<DiskCache>> disk = openDisk(options);
  if (!disk)
    return reportError(disk.error());
  Result<std::unique_ptr<Remote>> remote = openRemote(options.server);
  if (!remote)
    return reportError(remote.error());
  int exitCode = exitOk;
  if (directions & push) {
    Result<Moved> moved = pushAll(options, **disk, **remote);
    exitCode = moved ? finish(*moved, "pushed", options.server) : reportError(moved.error());
  }
  if (directions & pull) {
    Result<Moved> moved =
        options.problems.empty() ? pullNamed(options, **disk, **remote) : pullProblems(options, **disk, **remote);
    exitCode =
        moreSerious(exitCode, moved ? finish(*moved, "pulled", (*disk)->directory()) : reportError(moved.error()));
  }
  return exitCode;
}

int generateKeys(const RemoteOptions &options) {
  Result<std::string> library = remoteLibrary();
  Result<void> made = library ? Remote::generateKeys(*library, options.output) : Result<void>(library.takeError());
  if (!made)
    return reportError(made.error());
  std::cout << "the private key is " << options.output << " (mode 0600), the public one " << options.output << ".pub\n";
  return exitOk;
}

} // namespace

std::string idOfKey(const quern_remote_origin &origin) {
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (size_t i = 0; i < 8; ++i)
    text << std::setw(2) << static_cast<unsigned>(origin.signer[i]);
  return text.str();
}

int listRemote(const std::string &server, bool json) {
  Result<std::unique_ptr<Remote>> remote = openRemote(server);
  if (!remote)
    return reportError(remote.error());
  std::vector<std::string> names;
  if (Result<void> listed = (*remote)->list([&](std::string_view name) { names.emplace_back(name); }); !listed)
    return reportError(listed.error());
  Table table({"entry", ">size", "key", "target", "problem"});
  Json all = Json::array();
  uint64_t total = 0, count = 0;
  for (const std::string &name : names) {
    Result<std::optional<RemoteArtifact>> bytes = (*remote)->fetchNamed(name);
    if (bytes && !*bytes) // removed in the meantime, or not the name of a kernel
      continue;
    Result<Artifact> artifact = bytes ? Artifact::parse((*bytes)->bytes) : Result<Artifact>(bytes.error());
    ++count;
    const std::string problem = artifact ? artifact->descriptor : concat("(", artifact.error().message, ")");
    const std::string target = artifact ? artifact->target : std::string();
    const size_t size = bytes ? (*bytes)->bytes.size() : 0;
    const std::string key = bytes ? idOfKey((*bytes)->origin) : std::string();
    total += size;
    table.addRow({name.substr(0, 16), formatBytes(static_cast<int64_t>(size)), key, target, problem});
    all.push_back({{"entry", name}, {"bytes", size}, {"key", key}, {"target", target}, {"problem", problem}});
  }
  if (json) {
    printJson(Json{{"server", server}, {"bytes", total}, {"entries", all}});
    return exitOk;
  }
  if (count > 0)
    table.print(std::cout);
  std::cout << count << (count == 1 ? " kernel, " : " kernels, ") << formatBytes(static_cast<int64_t>(total)) << " at "
            << server << '\n';
  return exitOk;
}

void addRemoteCommands(Command &cache, int &exitCode) {
  auto options = std::make_shared<RemoteOptions>();
  Command keys = cache.subcommand("keygen", "Create a pair of keys for a remote cache");
  keys.option("-o,--output", options->output,
              "File of the private key, which must not exist; FILE.pub gets the public key")
      .required();
  keys.callback([options, &exitCode] { exitCode = generateKeys(*options); });
  const auto add = [&](const char *name, const char *help, unsigned directions) {
    Command sub = cache.subcommand(name, help);
    sub.option("REMOTE", options->server, "Server, in the form of QUERN_REMOTE_CACHE").required();
    sub.option("--dir", options->directory, "Directory of the disk cache (default: the one in use)");
    sub.option("--filter", options->filter, "Only kernels with this in their problem or target");
    if (directions & pull) {
      sub.option(
          "-f,--file", options->problems,
          "File of problems, one per line, or the list of a pack (`quern pack list --json`; default: all kernels "
          "stored with names)");
      sub.option("--target", options->targets,
                 "Target of the problems, as for `compile`; may be repeated (default: native)");
    }
    sub.callback([options, directions, &exitCode] { exitCode = move(*options, directions); });
  };
  add("push", "Store the kernels of the disk cache on a server", push);
  add("pull", "Fetch kernels from a server into the disk cache", pull);
  add("sync", "Push, then pull", push | pull);
}

} // namespace quern
