#ifndef CORE_DATA_SHIMS_H
#define CORE_DATA_SHIMS_H

#include <stddef.h>
#include <stdint.h>

/// Finds `needle` in `haystack`; NULL when absent. Glibc's own declaration needs _GNU_SOURCE, which its Swift module lacks.
const void *_Nullable cd_memmem(const void *_Nonnull haystack, size_t haystackLength,
                                const void *_Nonnull needle, size_t needleLength);

/// Retains a Swift object unless its deinit has begun; NULL in that case.
/// NB: swift_tryRetain is exported by the Swift runtime, not documented API. Every use goes through here.
void *_Nullable cd_tryRetain(const void *_Nonnull object);

/// What the initialiser that runs next on this thread shall take over, or NULL.
void *_Nullable cd_takeConstruction(void);
void cd_setConstruction(void *_Nullable construction);

/// Where a thread keeps the list of what the objects that die on it leave to be released; it points to NULL while none is dying.
void *_Nullable *_Nonnull cd_releaseList(void);

/// Loads and stores a number that another thread may store and load at the same time. Orders nothing else.
static inline int32_t cd_loadRelaxed(const void *_Nonnull address) {
    return __atomic_load_n((const int32_t *)address, __ATOMIC_RELAXED);
}
static inline void cd_storeRelaxed(void *_Nonnull address, int32_t value) {
    __atomic_store_n((int32_t *)address, value, __ATOMIC_RELAXED);
}

/// What the queues of contexts know of a thread. Its address is the thread's name; a C thread-local is several times cheaper than a pthread key.
typedef struct {
    /// The level of the queue whose block the thread is running; -1 while it runs none.
    long level;
    /// How many contexts are taking what a child saved, on this thread.
    long receptions;
    /// What is needed once the thread waits for others, or NULL.
    void *_Nullable state;
    /// The queue whose block the thread is running, which the block keeps alive; NULL while it runs none.
    void *_Nullable queue;
} cd_thread;

cd_thread *_Nonnull cd_currentThread(void);

/// Writes out what is kept back for standard output. 0, or the number of the error of this or of an earlier attempt.
int32_t cd_flushStandardOutput(void);

#endif
