#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

void *swift_tryRetain(void *object);

const void *cd_memmem(const void *haystack, size_t haystackLength, const void *needle, size_t needleLength) {
    return memmem(haystack, haystackLength, needle, needleLength);
}

void *cd_tryRetain(const void *object) { return swift_tryRetain((void *)object); }

static _Thread_local void *construction;

void *cd_takeConstruction(void) {
    void *taken = construction;
    construction = NULL;
    return taken;
}

void cd_setConstruction(void *next) { construction = next; }

static _Thread_local void *releaseList;

void **cd_releaseList(void) { return &releaseList; }

static _Thread_local cd_thread thread = {-1, 0, NULL, NULL};

cd_thread *cd_currentThread(void) { return &thread; }

int32_t cd_flushStandardOutput(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return errno != 0 ? errno : EIO;
}
