//===- OneDnnApi.h - Functions of oneDNN's C API --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The functions are looked up by name. Only the implementation of OneDnn.h uses this file.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PEERS_ONEDNNAPI_H
#define QUERN_PEERS_ONEDNNAPI_H

#include "OneDnn.h"

namespace quern {

struct OneDnn::ExecArg {
  int arg;
  void *memory;
};
struct OneDnn::Version {
  int major, minor, patch;
};

struct OneDnn::Functions {
  const Version *(*version)();
  int (*engineCreate)(void **, int, size_t);
  int (*engineDestroy)(void *);
  int (*streamCreate)(void **, void *, unsigned);
  int (*streamDestroy)(void *);
  int (*streamWait)(void *);
  int (*mdCreate)(void **, int, const int64_t *, int, const int64_t *);
  int (*mdCreateByTag)(void **, int, const int64_t *, int, const char *);
  int (*mdCreateWithBlob)(void **, const uint8_t *);   ///< null in old releases
  int (*mdGetBlob)(uint8_t *, size_t *, const void *); ///< null in old releases
  size_t (*mdGetSize)(const void *);
  int (*mdDestroy)(void *);
  int (*attrCreate)(void **);
  int (*attrDestroy)(void *);
  int (*setScales)(void *, int, int);
  int (*setZeroPoints)(void *, int, int);
  int (*setGroupedScales)(void *, int, int, int, const int64_t *, int);     ///< null in old releases
  int (*setGroupedZeroPoints)(void *, int, int, int, const int64_t *, int); ///< null in old releases
  int (*setDropout)(void *, const void *, int, int, int);                   ///< null in releases before 3.13
  int (*setRnnData)(void *, float, float);
  int (*setRnnWeights)(void *, int64_t, int, const float *);
  int (*setRnnProjection)(void *, int64_t, int, const float *);
  int (*postOpsCreate)(void **);
  int (*postOpsDestroy)(void *);
  int (*setPostOps)(void *, const void *);
  int (*appendEltwise)(void *, int, float, float);
  int (*appendBinary)(void *, int, const void *);
  int (*appendSum)(void *, float, int32_t, int);
  int (*eltwiseForward)(void **, void *, int, int, const void *, const void *, float, float, const void *);
  int (*eltwiseBackward)(void **, void *, int, const void *, const void *, const void *, float, float, const void *,
                         const void *);
  int (*softmaxForward)(void **, void *, int, int, const void *, const void *, int, const void *);
  int (*softmaxBackward)(void **, void *, int, const void *, const void *, const void *, int, const void *,
                         const void *);
  int (*binary)(void **, void *, int, const void *, const void *, const void *, const void *);
  /// null in releases before 3.6
  int (*binaryV2)(void **, void *, int, const void *, const void *, const void *, const void *, const void *) = nullptr;
  int (*reorder)(void **, const void *, void *, const void *, void *, const void *);
  int (*sum)(void **, void *, const void *, int, const float *, const void *const *, const void *);
  int (*concat)(void **, void *, const void *, int, int, const void *const *, const void *);
  int (*pdQuery)(const void *, int, int, void *);
  int (*pdDestroy)(void *);
  int (*primitiveCreate)(void **, const void *);
  int (*primitiveDestroy)(void *);
  int (*memoryCreate)(void **, const void *, void *, void *);
  int (*memoryDestroy)(void *);
  int (*execute)(const void *, void *, int, const ExecArg *);

  /// Returns the name of the first missing symbol, or null.
  const char *load(void *library);
};

inline constexpr int unimplementedOneDnn = 3; ///< a status code

inline Result<void> explained(int status, const char *what) {
  if (status == 0)
    return {};
  if (status == unimplementedOneDnn)
    return unimplemented("oneDNN: ", what, " is not supported");
  return runtimeError("oneDNN: ", what, " failed with status ", status);
}

} // namespace quern

#endif // QUERN_PEERS_ONEDNNAPI_H
