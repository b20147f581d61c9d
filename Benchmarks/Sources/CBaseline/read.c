#include "rows.h"

static void add(baseline_tally *tally, const row *row) {
    tally->rows += 1;
    tally->title_bytes += row->song.title_length;
    tally->plays += row->song.play_count;
    tally->seconds += row->song.duration;
}

/// Steps to the end, and makes the statement ready for the next use.
static int read_all(sqlite3_stmt *statement, baseline_tally *tally) {
    row current;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        read_row(statement, &current);
        add(tally, &current);
    }
    return sqlite3_reset(statement);
}

int baseline_fetch(baseline_connection *connection, baseline_tally *tally) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, "SELECT " COLUMNS " FROM ZSONG", &statement);
    if (code == SQLITE_OK) code = read_all(statement, tally);
    sqlite3_finalize(statement);
    return code;
}

int baseline_fetch_indexed(baseline_connection *connection, const baseline_song *songs, const int64_t *picks,
                           size_t count, baseline_tally *tally) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, "SELECT " COLUMNS " FROM ZSONG WHERE ZTITLE = ?", &statement);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) {
        const baseline_song *song = &songs[picks[i]];
        sqlite3_bind_text(statement, 1, song->title, song->title_length, SQLITE_STATIC);
        code = read_all(statement, tally);
    }
    sqlite3_finalize(statement);
    return code;
}

int baseline_read_by_key(baseline_connection *connection, const int64_t *keys, size_t count, baseline_tally *tally) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, "SELECT " COLUMNS " FROM ZSONG WHERE Z_PK = ?", &statement);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) {
        sqlite3_bind_int64(statement, 1, keys[i]);
        code = read_all(statement, tally);
    }
    sqlite3_finalize(statement);
    return code;
}

static int add_count(sqlite3_stmt *statement, int64_t *sum) {
    if (sqlite3_step(statement) == SQLITE_ROW) *sum += sqlite3_column_int64(statement, 0);
    return sqlite3_reset(statement);
}

int baseline_count(baseline_connection *connection, int64_t plays, int times, int64_t *all, int64_t *matching) {
    sqlite3_stmt *total = NULL, *filtered = NULL;
    int code = prepare(connection, "SELECT COUNT(*) FROM ZSONG", &total);
    if (code == SQLITE_OK) code = prepare(connection, "SELECT COUNT(*) FROM ZSONG WHERE ZPLAYCOUNT > ?", &filtered);
    for (int i = 0; code == SQLITE_OK && i < times; i++) {
        code = add_count(total, all);
        if (code != SQLITE_OK) break;
        sqlite3_bind_int64(filtered, 1, plays);
        code = add_count(filtered, matching);
    }
    sqlite3_finalize(total);
    sqlite3_finalize(filtered);
    return code;
}
