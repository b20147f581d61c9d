#ifndef STATEMENTS_H
#define STATEMENTS_H

#include "CBaseline.h"
#include <sqlite3.h>

#define COLUMNS \
    "Z_ENT, Z_PK, Z_OPT, ZISFAVORITE, ZPLAYCOUNT, ZTRACKNUMBER, ZADDEDAT, ZDURATION, ZARTIST, ZTITLE, ZUUID"

static inline int prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static inline int execute(sqlite3 *connection, const char *sql) {
    return sqlite3_exec(connection, sql, NULL, NULL, NULL);
}

/// Ends a transaction: commits after success, else rolls back and keeps the first error.
static inline int finish(sqlite3 *connection, int code) {
    if (code == SQLITE_OK) return execute(connection, "COMMIT");
    execute(connection, "ROLLBACK");
    return code;
}

#endif
