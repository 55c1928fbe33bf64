//===- OneDnn.h - Genuine oneDNN, opened at run time ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Any oneDNN 3.x through dlopen and the few functions of its C API that are needed, so that one program serves every
// version and none is needed to build. Enumerations have Quern's values, which are oneDNN's. What the differential
// tests and the benchmarks compare with.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PEERS_ONEDNN_H
#define QUERN_PEERS_ONEDNN_H

#include "GuardedBuffer.h"
#include "Primitives/Registry.h"

#include <functional>
#include <map>
#include <memory>

namespace quern {

class OneDnnPrimitive;

/// An engine with a stream of one library. Must outlive its primitives. Not thread-safe.
class OneDnn {
public:
  /// `root` is the library, or a directory with lib/libdnnl.so.3 as tools/peers.sh makes it.
  static Result<std::unique_ptr<OneDnn>> open(const std::string &root);
  ~OneDnn();

  /// The same problem. `unimplemented` where oneDNN refuses the problem or its API has no word for it.
  Result<std::unique_ptr<OneDnnPrimitive>> create(const VerifiedProblem &problem) const;
  std::string version() const;

  /// A function of the library, or null.
  template <typename Function> Function *find(const char *name) const {
    return reinterpret_cast<Function *>(symbol(name));
  }

private:
  friend class OneDnnPrimitive;
  struct ExecArg;
  struct Version;
  struct Functions;
  OneDnn() = default;
  void *symbol(const char *name) const;
  std::unique_ptr<Functions> api;
  void *handle = nullptr, *engine = nullptr, *stream = nullptr;
};

class OneDnnPrimitive {
public:
  ~OneDnnPrimitive();

  /// What oneDNN calls its kernel: "jit:avx512_core", "ref:any".
  const std::string &implementation() const { return kernel; }
  /// Uses the caller's buffers, by argument, laid out as the problem's descriptors say.
  Result<void> bind(const std::map<int32_t, void *> &buffers);
  /// Uses buffers of this object's, whole lines in front of an inaccessible page; `fill` is called once for each, with
  /// the argument and its start.
  Result<void> allocate(const std::function<void(const ArgumentInfo &, char *)> &fill);
  /// Executes `calls` times and waits once.
  Result<void> execute(int64_t calls = 1);

private:
  friend class OneDnn;
  struct Memory { ///< as execution takes it
    int32_t argument;
    void *handle;
  };
  static inline void *const allocateMemory = reinterpret_cast<void *>(~uintptr_t(0)); ///< DNNL_MEMORY_ALLOCATE
  OneDnnPrimitive(const OneDnn &library, const VerifiedProblem &problem) : library(library), problem(problem) {}
  Result<void *> describe(const TensorDesc &tensor);
  Result<void> describeAttributes();
  Result<void> appendPostOp(void *postOps, const PostOp &post);
  Result<void> create();
  Result<void *> describeByBlob(const TensorDesc &tensor);
  Result<void> describeQuantization();
  Result<void> describeDropout();
  Result<void *> createDesc(const SoftmaxDesc &op);
  Result<void *> createDesc(const ReorderDesc &op);
  Result<void *> createDesc(const RnnDesc &op);
  Result<void *> createDesc(const EltwiseDesc &op);
  Result<void *> createDesc(const BinaryDesc &op);
  Result<void *> createDesc(const SumDesc &op);
  Result<void *> createDesc(const ConcatDesc &op);
  Result<void *> createDesc(const GemmDesc &op);
  Result<void *> createDesc(const MlirDesc &op);
  Result<std::vector<const void *>> describeAll(const std::vector<TensorDesc> &tensors);
  using CreateFromAll = std::function<int(void **desc, const void *dst, int count, const void *const *srcs)>;
  /// Of a primitive with a list of sources.
  Result<void *> createFromAll(const std::vector<TensorDesc> &srcs, const TensorDesc &dst, const CreateFromAll &create);
  /// Null for an absent tensor. Weights that the library packs its own way are left to it (`ownLayouts`).
  Result<const void *> describeRnn(int32_t argument, const TensorDesc &tensor);
  using RnnTensors = std::map<int32_t, const void *>;
  Result<RnnTensors> describeRnnTensors(const RnnDesc &op);
  Result<void *> createRnnForward(const RnnDesc &op, const RnnTensors &at, PropKind prop) const;
  /// With the primitive of forward that makes its workspace.
  Result<void *> createRnnBackward(const RnnDesc &op, const RnnTensors &at);
  Result<void *> createRnnBackward(const RnnDesc &op, const RnnTensors &at, const void *hint) const;
  Result<void *> describeAny(const TensorDesc &tensor);
  /// Copies the descriptors that the primitive descriptor chose.
  Result<void> keepOwnLayouts(const void *primitiveDesc, std::map<int32_t, void *> &layouts);
  /// Fills a memory with a layout of the library's own from `data`, the first element in ours;
  /// leaves a workspace as it is.
  Result<void> fillOwn(const ArgumentInfo &argument, const void *layout, void *memory, const void *data);
  /// What backward reads of the library's own forward.
  bool isMadeByForward(int32_t argument) const;
  /// Weights once more, where forward has another layout of its own for them.
  Result<void> addForwardMemory(const ArgumentInfo &argument, const void *data);
  Result<void> runForward();
  Result<void> reorderInto(const TensorDesc &plain, void *values, const void *desc, void *memory);
  Result<void *> layoutOf(const ArgumentInfo &argument);
  Result<void> addMemory(const ArgumentInfo &argument, void *data);
  void releaseMemories();

  const OneDnn &library;
  VerifiedProblem problem;
  std::string kernel;
  void *attributes = nullptr, *primitive = nullptr;
  std::vector<void *> descs;            ///< owned
  std::map<int32_t, void *> ownLayouts; ///< by argument; the descriptors are among `descs`
  std::vector<Memory> memories;
  void *forward = nullptr;                  ///< of a backward RNN: the primitive whose workspace it reads
  std::map<int32_t, void *> forwardLayouts; ///< of weights, for `forward`; the descriptors are among `descs`
  std::vector<Memory> forwardMemories;      ///< in these layouts
  std::vector<GuardedBuffer> buffers;       ///< of allocate()
};

} // namespace quern

#endif // QUERN_PEERS_ONEDNN_H
