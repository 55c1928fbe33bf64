//===- OneDnn.h - Genuine oneDNN, opened at run time ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses any oneDNN 3.x through dlopen and the required functions of its C API, so one program supports every version and
// needs none to build. Enumerations have the same values as Quern's. The differential tests and the benchmarks compare
// Quern with it.
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
  /// Opens oneDNN. `root` is the library, or a directory with lib/libdnnl.so.3 that tools/peers.sh has installed.
  static Result<std::unique_ptr<OneDnn>> open(const std::string &root);
  ~OneDnn();

  /// Creates the same problem. Fails with `unimplemented` if oneDNN refuses the problem or its API cannot express it.
  Result<std::unique_ptr<OneDnnPrimitive>> create(const VerifiedProblem &problem) const;
  std::string version() const;

  /// Returns a function of the library, or null.
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

  /// Returns oneDNN's name for its kernel, such as "jit:avx512_core" or "ref:any".
  const std::string &implementation() const { return kernel; }
  /// Binds the caller's buffers, by argument, with the layouts of the problem's descriptors.
  Result<void> bind(const std::map<int32_t, void *> &buffers);
  /// Binds buffers that this object owns: whole cache lines that end at an inaccessible page. Calls `fill` once for
  /// each, with the argument and its address.
  Result<void> allocate(const std::function<void(const ArgumentInfo &, char *)> &fill);
  /// Executes `calls` times and waits once.
  Result<void> execute(int64_t calls = 1);

private:
  friend class OneDnn;
  struct Memory { ///< in the form that execution expects
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
  /// Creates the primitive descriptor of an operation with a list of sources.
  Result<void *> createFromAll(const std::vector<TensorDesc> &srcs, const TensorDesc &dst, const CreateFromAll &create);
  /// Returns the library's descriptor of a tensor; null if the tensor is absent. The library chooses the layout of
  /// weights that it packs (`chosenLayouts`).
  Result<const void *> describeRnn(int32_t argument, const TensorDesc &tensor);
  using RnnTensors = std::map<int32_t, const void *>;
  Result<RnnTensors> describeRnnTensors(const RnnDesc &op);
  Result<void *> createRnnForward(const RnnDesc &op, const RnnTensors &at, PropKind prop) const;
  /// Creates the descriptor of backward, and the forward primitive that computes its workspace.
  Result<void *> createRnnBackward(const RnnDesc &op, const RnnTensors &at);
  Result<void *> createRnnBackward(const RnnDesc &op, const RnnTensors &at, const void *hint) const;
  Result<void *> describeAny(const TensorDesc &tensor);
  /// Copies the layouts that the primitive descriptor chose.
  Result<void> keepChosenLayouts(const void *primitiveDesc, std::map<int32_t, void *> &layouts);
  /// Fills a memory that has the library's own layout from `data`, the first element in Quern's layout. A workspace is
  /// not changed.
  Result<void> fillChosen(const ArgumentInfo &argument, const void *layout, void *memory, const void *data);
  /// Returns true for arguments of backward that the library's own forward computes.
  bool isMadeByForward(int32_t argument) const;
  /// Adds a second copy of weights for which forward chose another layout.
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
  std::vector<void *> descs;               ///< owned
  std::map<int32_t, void *> chosenLayouts; ///< by argument; the descriptors are among `descs`
  std::vector<Memory> memories;
  void *forward = nullptr;                  ///< forward primitive whose workspace a backward RNN reads; otherwise null
  std::map<int32_t, void *> forwardLayouts; ///< layouts of weights for `forward`; the descriptors are among `descs`
  std::vector<Memory> forwardMemories;      ///< memories with these layouts
  std::vector<GuardedBuffer> buffers;       ///< buffers of allocate()
};

} // namespace quern

#endif // QUERN_PEERS_ONEDNN_H
