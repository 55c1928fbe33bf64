//===- Cache.cpp - quern cache --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Manages the disk cache: lists its contents, verifies it, prewarms it and clears it.
//
//===----------------------------------------------------------------------===//
#include "Cache/Disk.h"
#include "CacheRemote.h"
#include "Command.h"
#include "Json.h"
#include "Kernel.h"
#include "Output.h"
#include "Problem.h"

#include <ctime>
#include <iostream>

namespace quern {
namespace {

constexpr int flushMs = 10'000; // maximum time in ms for which a command waits for the remote cache at its end

struct CacheOptions {
  std::string directory, name, file, server;
  bool json = false, remove = false;
};

/// Returns the library's directory, unless the user names another one.
std::string directoryOf(const CacheOptions &options) {
  if (!options.directory.empty())
    return options.directory;
  const char *directory = "";
  return quern_get_disk_cache(&directory) == quern_success ? directory : "";
}

/// Returns the directory of an enabled cache that is not refused.
Result<std::string> usableDirectory(const CacheOptions &options) {
  std::string directory = directoryOf(options);
  if (directory.empty())
    return invalidArguments("the disk cache is off (QUERN_CACHE_DIR); name a directory with --dir");
  QUERN_RETURN_IF_ERROR(DiskCache(directory).check());
  return directory;
}

std::string dateText(int64_t seconds) {
  time_t when = static_cast<time_t>(seconds);
  tm parts{};
  char text[32] = "";
  if (localtime_r(&when, &parts))
    std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts);
  return text;
}

int list(const CacheOptions &options) {
  if (!options.server.empty())
    return listRemote(options.server, options.json);
  Result<std::string> directory = usableDirectory(options);
  if (!directory)
    return reportError(directory.error());
  DiskCache cache(*directory);
  Result<std::vector<DiskCacheFile>> files = cache.list();
  if (!files)
    return reportError(files.error());
  Table table({"file", ">size", "last used", "key", "target", "problem"});
  Json all = Json::array();
  uint64_t total = 0;
  for (const DiskCacheFile &file : *files) {
    Result<DiskCache::Stored> stored = cache.read(file.name);
    Result<Artifact> artifact = stored ? Artifact::parse(stored->bytes) : Result<Artifact>(stored.takeError());
    const std::string key = stored && stored->origin ? idOfKey(*stored->origin) : std::string();
    std::string problem = artifact ? artifact->descriptor : "(" + artifact.error().message + ")";
    std::string target = artifact ? artifact->target : "";
    total += file.bytes;
    table.addRow({file.name, formatBytes(static_cast<int64_t>(file.bytes)), dateText(file.lastUsedSeconds), key, target,
                  problem});
    all.push_back({{"file", file.name},
                   {"bytes", file.bytes},
                   {"last_used", file.lastUsedSeconds},
                   {"key", key},
                   {"target", target},
                   {"problem", problem}});
  }
  if (options.json) {
    printJson(Json{{"directory", *directory}, {"bytes", total}, {"files", all}});
    return exitOk;
  }
  if (!files->empty())
    table.print(std::cout);
  std::cout << files->size() << (files->size() == 1 ? " kernel, " : " kernels, ")
            << formatBytes(static_cast<int64_t>(total)) << " in " << *directory << '\n';
  return exitOk;
}

/// Finds a kernel by its file name, or by a prefix of it.
Result<std::string> findFile(const DiskCache &cache, const std::string &prefix) {
  QUERN_ASSIGN_OR_RETURN(std::vector<DiskCacheFile> files, cache.list());
  std::string found;
  for (const DiskCacheFile &file : files) {
    if (!file.name.starts_with(prefix))
      continue;
    if (!found.empty())
      return invalidArguments("'", prefix, "' is a prefix of several names: ", found, ", ", file.name);
    found = file.name;
  }
  if (found.empty())
    return invalidArguments("no kernel in ", cache.directory(), " has a name that starts with '", prefix, "'");
  return found;
}

Json describe(const Artifact &artifact) {
  Json json{{"problem", artifact.descriptor},
            {"target", artifact.target},
            {"build", artifact.buildId},
            {"plan", artifact.plan},
            {"code_bytes", artifact.code.size()},
            {"scratch_bytes_per_thread", artifact.scratchBytesPerThread},
            {"shared_scratch_bytes", artifact.sharedScratchBytes},
            {"launch", artifact.launchText()},
            {"is_current_build", artifact.buildId == compilerBuildId()}};
  json["steps"] = Json::array();
  for (const LaunchStep &step : artifact.steps) {
    Json factors = Json::array();
    for (const SizeFactor &factor : step.factors)
      factors.push_back({{"size", factor.sizeIndex}, {"divisor", factor.divisor}});
    Json buffers = Json::array();
    for (const StepBuffer &buffer : step.buffers)
      buffers.push_back({{"buffer", buffer.buffer}, {"byte_offset", buffer.byteOffset.text()}});
    json["steps"].push_back({{"entry", artifact.entries[step.entry]},
                             {"iterations", step.iterations},
                             {"factors", std::move(factors)},
                             {"buffers", std::move(buffers)},
                             {"independent_of_previous", step.independentOfPrevious}});
  }
  json["groups"] = Json::array();
  for (size_t i = 0; i < artifact.groups.size(); ++i)
    json["groups"].push_back({{"entry", artifact.entries[i]},
                              {"work_items", artifact.groups[i].workItems},
                              {"sub_group_size", artifact.groups[i].subGroupSize},
                              {"memory_bytes", artifact.groups[i].memoryBytes}});
  json["loops"] = Json::array();
  for (const LaunchLoop &loop : artifact.loops)
    json["loops"].push_back({{"trips", loop.trips.text()}, {"first_step", loop.first}, {"end_step", loop.end}});
  json["regions"] = Json::array();
  for (const Polynomial &bytes : artifact.regions)
    json["regions"].push_back({{"bytes", bytes.text()}});
  json["derived_sizes"] = Json::array();
  for (const DerivedSize &size : artifact.derivedSizes)
    switch (size.kind) {
    case DerivedSize::Kind::Maximum:
      json["derived_sizes"].push_back({{"argument", size.argument},
                                       {"limit", size.limit.text()},
                                       {"count", size.count.text()},
                                       {"stride", size.stride.text()}});
      break;
    case DerivedSize::Kind::Number:
      json["derived_sizes"].push_back({{"argument", size.argument}});
      break;
    case DerivedSize::Kind::Computed:
      json["derived_sizes"].push_back({{"value", size.value.text()}});
    }
  json["checks"] = Json::array();
  for (const SizeCheck &check : artifact.checks)
    json["checks"].push_back(
        {{"what", check.what}, {"value", check.value.text()}, {"low", check.low.text()}, {"high", check.high.text()}});
  json["arguments"] = Json::array();
  for (const ArtifactArgument &argument : artifact.arguments)
    json["arguments"].push_back(
        {{"index", argument.index}, {"is_output", argument.isOutput != 0}, {"bytes", argument.bytes}});
  return json;
}

int show(const CacheOptions &options) {
  Result<std::string> directory = usableDirectory(options);
  if (!directory)
    return reportError(directory.error());
  DiskCache cache(*directory);
  Result<std::string> name = findFile(cache, options.name);
  if (!name)
    return reportError(name.error());
  Result<DiskCache::Stored> stored = cache.read(*name);
  if (!stored)
    return reportError(stored.error());
  Result<Artifact> artifact = Artifact::parse(stored->bytes);
  if (!artifact) {
    reportError(artifact.error());
    return exitWrong;
  }
  Json json = describe(*artifact);
  if (options.json) {
    printJson(json);
    return exitOk;
  }
  for (const auto &[key, value] : json.items())
    if (!value.is_array())
      std::cout << key << std::string(26 - key.size(), ' ')
                << (value.is_string() ? value.get<std::string>() : value.dump()) << '\n';
  for (const auto &step : json["steps"])
    std::cout << "step                      " << step["entry"].get<std::string>() << " over " << step["iterations"]
              << " iterations\n";
  for (const auto &region : json["regions"])
    std::cout << "region                    " << region["bytes"].get<std::string>() << " bytes\n";
  for (const auto &argument : json["arguments"])
    std::cout << "argument                  " << argument["index"]
              << (argument["is_output"].get<bool>() ? ", written, " : ", read, ") << argument["bytes"] << " bytes\n";
  return exitOk;
}

int verifyFiles(const CacheOptions &options) {
  Result<std::string> directory = usableDirectory(options);
  if (!directory)
    return reportError(directory.error());
  Result<std::vector<DiskCacheVerdict>> verdicts = DiskCache(*directory).verify(options.remove);
  if (!verdicts)
    return reportError(verdicts.error());
  size_t bad = 0;
  Json all = Json::array();
  for (const DiskCacheVerdict &verdict : *verdicts) {
    bad += !verdict.problem.empty();
    all.push_back({{"file", verdict.file.name},
                   {"ok", verdict.problem.empty()},
                   {"problem", verdict.problem},
                   {"removed", verdict.removed}});
    if (!options.json && !verdict.problem.empty())
      std::cout << verdict.file.name << ": " << verdict.problem << (verdict.removed ? " (removed)" : "") << '\n';
  }
  if (options.json)
    printJson(Json{{"directory", *directory}, {"files", all}});
  else
    std::cout << verdicts->size() - bad << " sound, " << bad << " damaged in " << *directory << '\n';
  return bad ? exitWrong : exitOk;
}

int clearFiles(const CacheOptions &options) {
  Result<std::string> directory = usableDirectory(options);
  if (!directory)
    return reportError(directory.error());
  Result<uint64_t> removed = DiskCache(*directory).clear();
  if (!removed)
    return reportError(removed.error());
  std::cout << "removed " << *removed << (*removed == 1 ? " kernel from " : " kernels from ") << *directory << '\n';
  return exitOk;
}

/// Waits until pending kernels are stored, then prints one line if a remote cache was queried or received kernels.
void printRemoteStatistics() {
  quern_remote_statistics_t remote{};
  if (quern_flush_remote_cache(flushMs) != quern_success || quern_get_remote_statistics(&remote) != quern_success)
    return;
  const uint64_t rejected = remote.rejected_unsigned + remote.rejected_foreign + remote.rejected_expired +
                            remote.rejected_mismatched + remote.rejected_damaged;
  if (remote.hits + remote.misses + remote.stores > 0)
    std::cout << "remote cache: " << remote.hits << " hits, " << remote.misses << " misses, " << rejected
              << " rejected, " << remote.timeouts << " late, " << remote.failures << " failed; " << remote.stores
              << " stored, " << remote.store_failures + remote.stores_dropped << " not stored\n";
}

int prewarm(const CacheOptions &options) {
  Result<std::string> directory = usableDirectory(options);
  if (!directory)
    return reportError(directory.error());
  if (Result<void> set = checked(quern_set_disk_cache(directory->c_str())); !set)
    return reportError(set.error());
  Result<std::vector<std::string>> lines = readProblemFile(options.file);
  if (!lines)
    return reportError(lines.error());
  Result<Device> device = Device::open(quern_cpu);
  if (!device)
    return reportError(device.error());
  int exitCode = exitOk;
  size_t compiled = 0, present = 0, refused = 0;
  {
    ProgressBar progress("compiling", lines->size());
    for (const std::string &line : *lines) {
      Result<ParsedProblem> problem = readProblem(line, Target::host());
      Result<Kernel> kernel = problem ? Kernel::create(*device, problem->text) : Result<Kernel>(problem.takeError());
      if (!kernel)
        exitCode = moreSerious(exitCode, reportError(kernel.error()));
      (!kernel ? refused : kernel->info().origin == quern_origin_compiled ? compiled : present) += 1;
      progress.advance();
    }
  }
  quern_cache_statistics_t statistics{};
  if (quern_get_cache_statistics(&statistics) == quern_success && statistics.disk_store_failures)
    exitCode = moreSerious(exitCode, reportError(runtimeError(statistics.disk_store_failures,
                                                              " kernels could not be written to ", *directory)));
  std::cout << compiled << " compiled, " << present << " already there, " << refused << " refused in " << *directory
            << '\n';
  printRemoteStatistics();
  return exitCode;
}

} // namespace

void addCacheCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<CacheOptions>();
  Command command = program.subcommand("cache", "Manage the disk cache");
  command.requireSubcommand();
  auto add = [&](const char *name, const char *help, int (*action)(const CacheOptions &)) {
    Command sub = command.subcommand(name, help);
    sub.option("--dir", options->directory,
               "The cache's directory; default: QUERN_CACHE_DIR, else $XDG_CACHE_HOME/quern");
    sub.callback([options, action, &exitCode] { exitCode = action(*options); });
    return sub;
  };
  Command listCommand = add("list", "List the kernels, of the directory or of a server", list);
  listCommand.option("REMOTE", options->server, "Server, in the form of QUERN_REMOTE_CACHE");
  listCommand.flag("--json", options->json, "Print JSON");
  Command showCommand = add("show", "Show one kernel", show);
  showCommand.option("NAME", options->name, "File name of the kernel, or a prefix of it").required();
  showCommand.flag("--json", options->json, "Print JSON");
  Command verifyCommand = add("verify", "Check every file; exit 1 if one is damaged", verifyFiles);
  verifyCommand.flag("--remove", options->remove, "Remove damaged files");
  verifyCommand.flag("--json", options->json, "Print JSON");
  add("clear", "Remove every kernel", clearFiles);
  add("prewarm", "Compile the problems of a file that the cache lacks", prewarm)
      .option("-f,--file", options->file, "File of problems, one per line; # starts a comment")
      .required();
  addRemoteCommands(command, exitCode);
}

} // namespace quern
