#include "statements.h"

static const char *const schema =
    "PRAGMA page_size=4096; PRAGMA auto_vacuum=2; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
    "CREATE TABLE ZSONG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISFAVORITE INTEGER,"
    " ZPLAYCOUNT INTEGER, ZTRACKNUMBER INTEGER, ZADDEDAT TIMESTAMP, ZDURATION FLOAT, ZARTIST VARCHAR, ZTITLE VARCHAR,"
    " ZUUID BLOB )";

int baseline_open(const char *path, baseline_connection **connection) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, connection, flags, NULL);
    if (code != SQLITE_OK) return code;
    return execute(*connection, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
}

int baseline_close(baseline_connection *connection) { return sqlite3_close(connection); }

int baseline_create(const char *path, int is_indexed) {
    sqlite3 *connection = NULL;
    int code = sqlite3_open(path, &connection);
    if (code == SQLITE_OK) code = execute(connection, schema);
    if (code == SQLITE_OK && is_indexed)
        code = execute(connection, "CREATE INDEX Z_Song_byTitle ON ZSONG (ZTITLE COLLATE BINARY ASC)");
    int closing = sqlite3_close(connection);
    return code == SQLITE_OK ? closing : code;
}

int baseline_create_unique(const char *path) {
    sqlite3 *connection = NULL;
    int code = sqlite3_open(path, &connection);
    if (code == SQLITE_OK) code = execute(connection, schema);
    if (code == SQLITE_OK)
        code = execute(connection, "CREATE UNIQUE INDEX Z_Song_UNIQUE_title ON ZSONG (ZTITLE COLLATE BINARY ASC)");
    int closing = sqlite3_close(connection);
    return code == SQLITE_OK ? closing : code;
}
