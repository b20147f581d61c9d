#define _POSIX_C_SOURCE 200809L

#include "CBaseline.h"
#include <malloc.h>
#include <time.h>

// NB: mallinfo2 adds the arenas of all threads up. With one arena for all of them, two readers would wait for each other to allocate, which those
// of no program do.
size_t baseline_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

void baseline_trim(void) { malloc_trim(0); }

double baseline_cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
