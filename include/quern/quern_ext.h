/*===- quern/quern_ext.h - What Quern adds to oneDNN's concepts ------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * The text form of problems, kernels as raw functions, the stages of the
 * compiler, and the caches.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_EXT_H
#define QUERN_EXT_H

#include "quern/kernel_abi.h"
#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- The text form (docs/text-form.md) ------------------------------------------------------------------------------------------- */

/** Any primitive from its line. On a syntax error the message has three lines: the reason, the line, and a caret under the place. */
QUERN_API quern_status_t quern_primitive_desc_create_from_text(
        quern_primitive_desc_t *primitive_desc, quern_engine_t engine, const char *line) QUERN_NOEXCEPT;
/** The line that gives this descriptor back, `any` layouts resolved. Owned by the descriptor. */
QUERN_API quern_status_t quern_primitive_desc_get_text(const_quern_primitive_desc_t primitive_desc, const char **text) QUERN_NOEXCEPT;

/**
 * 1 if the layout of tensor `arg` (QUERN_ARG_SRC, …) was `any` in what the descriptor was made of, or the tensor absent, as the
 * destination of a sum or concat may be; 0 if it was given or the problem has none.
 */
QUERN_API int quern_primitive_desc_chose_layout(const_quern_primitive_desc_t primitive_desc, int arg) QUERN_NOEXCEPT;

/* --- What an engine is --------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;   /**< of the device; "cpu" */
    const char *target; /**< what code is compiled for: an instruction set and caches, or a device's limits, as quern_compile() takes it */
} quern_engine_info_t;

/** The strings belong to the engine. */
QUERN_API quern_status_t quern_engine_get_info(quern_engine_t engine, quern_engine_info_t *info) QUERN_NOEXCEPT;

/* --- What a primitive is ------------------------------------------------------------------------------------------------------- */

typedef enum QUERN_INT {
  quern_origin_compiled = 0, /**< by this call, or by a question to the descriptor before it */
  quern_origin_disk = 1,     /**< read from the disk cache */
  quern_origin_memory = 2,   /**< found in the memory cache, or made by another thread at the same time */
  quern_origin_blob = 3,     /**< given by the caller */
  quern_origin_none = 4      /**< no kernel: an empty tensor, or what is only copied to another engine */
} quern_origin_t;

typedef struct {
    quern_origin_t origin;
    int64_t create_ns;     /**< of quern_primitive_create() in all */
    int64_t compile_ns;    /**< in the compiler, in this call or in the question that brought the kernel; 0 unless compiled */
    int64_t load_ns;       /**< linking or mapping the code, likewise; 0 for quern_origin_memory */
    int64_t code_bytes;    /**< mapped code and constants; of the object file where the compiler's linker loaded it */
    int64_t scratch_bytes; /**< of each thread */
    int64_t shared_bytes;  /**< of scratch common to the threads of one execution */
    const char *implementation; /**< as quern_query_impl_info_str */
    const char *plan;      /**< one line: how it was scheduled */
    const char *target;    /**< what it was compiled for */
    const char *linker;    /**< "orc", "loader", "driver" of a device, or "none" */
} quern_primitive_info_t;

/** The strings belong to the primitive. */
QUERN_API quern_status_t quern_primitive_get_info(const_quern_primitive_t primitive, quern_primitive_info_t *info) QUERN_NOEXCEPT;

/* --- Kernels as functions ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t arg;       /**< QUERN_ARG_ index */
    int32_t is_output;
    int64_t bytes;     /**< the least size of its buffer; 0 if it has runtime dims */
} quern_entry_argument_t;

/** Multiplies the iterations of a step by sizes[size_index] / divisor, rounded up. */
typedef struct {
    int32_t size_index; /**< into quern_kernel_args_t::sizes */
    int64_t divisor;    /**< at least 1 */
} quern_entry_factor_t;

/** Loops that may lie within each other. */
#define QUERN_ENTRY_MAX_DEPTH 8

/**
 * coefficient times the product of its symbols. Symbol i < QUERN_ENTRY_MAX_DEPTH is the index of the loop at depth i around a step, from
 * the outermost, 0; any other is quern_kernel_args_t::sizes[i - QUERN_ENTRY_MAX_DEPTH].
 */
typedef struct {
    int64_t coefficient;
    const uint32_t *symbols;
    int32_t symbol_count;
} quern_entry_term_t;

/** A sum of terms; without any, 0. */
typedef struct {
    const quern_entry_term_t *terms;
    int32_t term_count;
} quern_entry_value_t;

/** A buffer that a step is called with: that of an argument, or a region, from a byte on. */
typedef struct {
    int32_t argument;    /**< position among quern_entry_t::arguments, or argument_count and more: among its regions */
    int64_t byte_offset;
    quern_entry_value_t more_bytes; /**< to be added */
} quern_entry_buffer_t;

typedef struct {
    quern_kernel_fn function;
    int64_t iterations;       /**< times its factors: run function(args, 0, iterations), or disjoint ranges of it on several threads */
    int64_t ns_per_iteration; /**< estimate on one core; 0: unknown */
    const quern_entry_factor_t *factors; /**< for runtime dims */
    int32_t factor_count;
    int32_t beside_previous;  /**< 1: independent of the step before it, so that the two may run at once */
    const quern_entry_buffer_t *buffers; /**< what quern_kernel_args_t::buffers holds for this step; null: those of all arguments */
    int32_t buffer_count;
} quern_entry_step_t;

/** Runs steps [first_step, end_step) so often, never if that is negative. Loops come in the order in which they begin, outer ones first. */
typedef struct {
    quern_entry_value_t trips; /**< of sizes */
    int32_t first_step, end_step;
} quern_entry_loop_t;

/** A size behind those given: the greatest of `count` int32_t elements of an argument, `stride` elements apart, but in [0, limit]. */
typedef struct {
    int32_t argument;          /**< position among quern_entry_t::arguments */
    quern_entry_value_t limit, count, stride; /**< of the given sizes */
} quern_entry_derived_size_t;

/** How to call a kernel directly; kernel_abi.h has the contract. Steps run in order, each after all of the one before. */
typedef struct {
    uint32_t abi_version;     /**< QUERN_KERNEL_ABI_VERSION of the library */
    int32_t step_count;       /**< 0 for an empty tensor */
    const quern_entry_step_t *steps;
    int32_t argument_count;
    const quern_entry_argument_t *arguments; /**< in the order of quern_kernel_args_t::buffers, where a step names none */
    size_t scratch_bytes;     /**< for each concurrent call, aligned to 64; 0: none */
    size_t shared_bytes;      /**< for each execution, common to all calls of all its steps, aligned to 64; 0: none */
    int32_t size_count;       /**< of quern_kernel_args_t::sizes; 0: no dim is known at run time only */
    int32_t loop_count;       /**< 0: every step runs once */
    const quern_entry_loop_t *loops;
    int32_t region_count;     /**< memory that steps name as buffers, for each execution, aligned to 64 */
    const quern_entry_value_t *regions; /**< bytes of each, of sizes */
    int32_t derived_size_count; /**< behind the size_count sizes */
    const quern_entry_derived_size_t *derived_sizes;
} quern_entry_t;

/** Everything in `entry` belongs to the primitive and lives as long as it. */
QUERN_API quern_status_t quern_primitive_get_entry(const_quern_primitive_t primitive, quern_entry_t *entry) QUERN_NOEXCEPT;

/* --- The compiler -------------------------------------------------------------------------------------------------------------- */

typedef enum QUERN_INT {
    quern_form_emit = 1,     /**< linalg on memrefs, text */
    quern_form_schedule = 2, /**< vector and scf, text */
    quern_form_lower = 3,    /**< LLVM dialect, text */
    quern_form_llvm = 4,     /**< LLVM IR, text */
    quern_form_asm = 5,      /**< assembly, text */
    quern_form_object = 6,   /**< ELF relocatable object */
    quern_form_spirv = 7,
    quern_form_artifact = 8  /**< what the caches hold and quern_primitive_create_from_cache_blob() takes */
} quern_code_form_t;

typedef struct quern_blob *quern_blob_t;
typedef const struct quern_blob *const_quern_blob_t;

/**
 * Compiles a problem without an engine. `target` is an instruction set ("avx2", "avx512_core_bf16:l2=2048"), or null for this machine.
 * runtime_error: libquern-compiler cannot be loaded.
 */
QUERN_API quern_status_t quern_compile(
        const char *line, const char *target, quern_code_form_t form, quern_blob_t *blob) QUERN_NOEXCEPT;
/** One line: how the problem would be scheduled and why. */
QUERN_API quern_status_t quern_explain(const char *line, const char *target, quern_blob_t *blob) QUERN_NOEXCEPT;
/** `data` belongs to the blob; text has no terminating zero within `size`, but one follows. Either result may be null. */
QUERN_API quern_status_t quern_blob_get_data(const_quern_blob_t blob, const void **data, size_t *size) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_blob_destroy(quern_blob_t blob) QUERN_NOEXCEPT;

/* --- Events: what a program may watch ------------------------------------------------------------------------------------------- */

typedef enum QUERN_INT {
    quern_event_create = 1,  /**< a primitive was created */
    quern_event_execute = 2, /**< an execution has finished */
    quern_event_fail = 4     /**< a function fails, other than with not_required or last_impl_reached */
} quern_event_kind_t;

/** What does not belong to its kind is null or 0. */
typedef struct {
    quern_event_kind_t kind;
    int64_t ns; /**< how long creation or execution took */
    const_quern_primitive_desc_t primitive_desc; /**< create, execute */
    const_quern_primitive_t primitive; /**< create, execute */
    quern_origin_t origin; /**< create: where the kernel came from */
    int nargs; /**< execute: the arguments as given */
    const quern_exec_arg_t *args;
    quern_status_t status; /**< fail */
    const char *function; /**< fail: its name, "quern_primitive_create" */
    const char *message; /**< fail: as quern_get_last_error_message() */
} quern_event_t;
/** Called on the thread where it happens; must not throw. What `event` points to lives as long as the call. */
typedef void (*quern_listener_t)(void *context, const quern_event_t *event);

/**
 * From now on `listener` is told of these `events` (bits of quern_event_kind_t). 0 takes it away: no thread is in it any more then. It is
 * known by function and context. It may call any function of Quern but this one; what it calls is not reported. Without listeners an
 * event costs one load.
 */
QUERN_API quern_status_t quern_set_listener(quern_listener_t listener, void *context, unsigned events) QUERN_NOEXCEPT;

/* --- The caches ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t memory_hits, memory_misses, memory_evictions;
    uint64_t disk_hits, disk_misses; /**< looked up after a memory miss, with the disk cache on */
    uint64_t disk_rejected;          /**< of the misses: a file that was damaged, foreign or unsafe */
    uint64_t disk_stores, disk_store_failures, disk_evictions;
    uint64_t compilations;
    uint64_t memory_entries, memory_bytes; /**< now */
} quern_cache_statistics_t;

QUERN_API quern_status_t quern_get_cache_statistics(quern_cache_statistics_t *statistics) QUERN_NOEXCEPT;

/** Bytes of code and data in the memory cache. Initially 256 MiB. */
QUERN_API quern_status_t quern_get_primitive_cache_capacity_bytes(size_t *bytes) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_set_primitive_cache_capacity_bytes(size_t bytes) QUERN_NOEXCEPT;

/**
 * The directory of the disk cache; null or "" switches it off. It is made when first written. It must belong to this user and be
 * writable by nobody else, and must not be a symbolic link: runtime_error otherwise, and the cache is off. Initially QUERN_CACHE_DIR
 * ("off" or "" for none), else $XDG_CACHE_HOME/quern, else ~/.cache/quern.
 */
QUERN_API quern_status_t quern_set_disk_cache(const char *directory) QUERN_NOEXCEPT;
/** The directory in use, or "" if the cache is off. Valid until the next call on the same thread. */
QUERN_API quern_status_t quern_get_disk_cache(const char **directory) QUERN_NOEXCEPT;
/** Total size of the files; beyond it those used longest ago go. Initially 512 MiB. */
QUERN_API quern_status_t quern_set_disk_cache_capacity(size_t bytes) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_EXT_H */
