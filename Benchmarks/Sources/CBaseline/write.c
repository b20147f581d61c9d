#include "statements.h"

static int insert_row(sqlite3_stmt *statement, const baseline_song *song) {
    sqlite3_bind_int64(statement, 1, 1);
    sqlite3_bind_int64(statement, 2, song->key);
    sqlite3_bind_int64(statement, 3, song->version);
    sqlite3_bind_int64(statement, 4, song->is_favorite);
    sqlite3_bind_int64(statement, 5, song->play_count);
    sqlite3_bind_int64(statement, 6, song->track_number);
    sqlite3_bind_double(statement, 7, song->added_at);
    sqlite3_bind_double(statement, 8, song->duration);
    sqlite3_bind_text(statement, 9, song->artist, song->artist_length, SQLITE_STATIC);
    sqlite3_bind_text(statement, 10, song->title, song->title_length, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 11, song->uuid, sizeof song->uuid, SQLITE_STATIC);
    sqlite3_step(statement);
    return sqlite3_reset(statement);
}

static int insert_all(sqlite3 *connection, const char *sql, const baseline_song *songs, size_t count, size_t chunk) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, sql, &statement);
    for (size_t start = 0; code == SQLITE_OK && start < count; start += chunk) {
        size_t end = start + chunk < count ? start + chunk : count;
        code = execute(connection, "BEGIN IMMEDIATE");
        for (size_t i = start; code == SQLITE_OK && i < end; i++) code = insert_row(statement, &songs[i]);
        code = finish(connection, code);
    }
    sqlite3_finalize(statement);
    return code;
}

#define INSERT "INSERT INTO ZSONG(" COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

int baseline_insert(baseline_connection *connection, const baseline_song *songs, size_t count, size_t chunk) {
    return insert_all(connection, INSERT, songs, count, chunk);
}

/// Notes the rows of one transaction: a change for each, with one statement for all, and the transaction.
static int note(sqlite3_stmt *changes, sqlite3_stmt *transaction, int64_t number, int64_t first, int64_t last) {
    sqlite3_bind_int64(changes, 1, number);
    sqlite3_bind_int64(changes, 2, first);
    sqlite3_bind_int64(changes, 3, last);
    sqlite3_step(changes);
    int code = sqlite3_reset(changes);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_int64(transaction, 1, number);
    sqlite3_step(transaction);
    return sqlite3_reset(transaction);
}

int baseline_insert_with_history(baseline_connection *connection, const baseline_song *songs, size_t count, size_t chunk) {
    sqlite3_stmt *inserting = NULL, *changes = NULL, *transaction = NULL;
    int code = prepare(connection, INSERT, &inserting);
    if (code == SQLITE_OK)
        code = prepare(
            connection,
            "INSERT INTO ACHANGE(Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)"
            " SELECT 16001, 0, Z_ENT, Z_PK, ?1 FROM ZSONG WHERE Z_PK BETWEEN ?2 AND ?3",
            &changes
        );
    if (code == SQLITE_OK)
        code = prepare(
            connection, "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP) VALUES(?1, 16002, unixepoch() - 978307200.0)", &transaction
        );
    int64_t number = 0;
    for (size_t start = 0; code == SQLITE_OK && start < count; start += chunk) {
        size_t end = start + chunk < count ? start + chunk : count;
        code = execute(connection, "BEGIN IMMEDIATE");
        for (size_t i = start; code == SQLITE_OK && i < end; i++) code = insert_row(inserting, &songs[i]);
        if (code == SQLITE_OK) code = note(changes, transaction, ++number, songs[start].key, songs[end - 1].key);
        code = finish(connection, code);
    }
    sqlite3_finalize(inserting);
    sqlite3_finalize(changes);
    sqlite3_finalize(transaction);
    return code;
}

int baseline_upsert(baseline_connection *connection, const baseline_song *songs, size_t count, size_t chunk) {
    const char *sql = INSERT
        " ON CONFLICT(ZTITLE) DO UPDATE SET Z_OPT = Z_OPT + 1, ZISFAVORITE = excluded.ZISFAVORITE,"
        " ZPLAYCOUNT = excluded.ZPLAYCOUNT, ZTRACKNUMBER = excluded.ZTRACKNUMBER, ZADDEDAT = excluded.ZADDEDAT,"
        " ZDURATION = excluded.ZDURATION, ZARTIST = excluded.ZARTIST, ZUUID = excluded.ZUUID";
    return insert_all(connection, sql, songs, count, chunk);
}

/// Runs a statement that has to change exactly one row.
static int change_one(sqlite3 *connection, sqlite3_stmt *statement) {
    sqlite3_step(statement);
    int code = sqlite3_reset(statement);
    if (code != SQLITE_OK) return code;
    return sqlite3_changes(connection) == 1 ? SQLITE_OK : SQLITE_NOTFOUND;
}

static int update_row(sqlite3 *connection, sqlite3_stmt *statement, const baseline_song *song) {
    sqlite3_bind_int64(statement, 1, song->version + 1);
    sqlite3_bind_int64(statement, 2, song->play_count);
    sqlite3_bind_text(statement, 3, song->title, song->title_length, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, song->key);
    sqlite3_bind_int64(statement, 5, song->version);
    return change_one(connection, statement);
}

static int delete_row(sqlite3 *connection, sqlite3_stmt *statement, const baseline_song *song) {
    sqlite3_bind_int64(statement, 1, song->key);
    sqlite3_bind_int64(statement, 2, song->version);
    return change_one(connection, statement);
}

typedef int (*row_change)(sqlite3 *, sqlite3_stmt *, const baseline_song *);

static int change_all(sqlite3 *connection, const char *sql, row_change change, const baseline_song *songs, size_t count) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, sql, &statement);
    if (code != SQLITE_OK) return code;
    code = execute(connection, "BEGIN IMMEDIATE");
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) code = change(connection, statement, &songs[i]);
    code = finish(connection, code);
    sqlite3_finalize(statement);
    return code;
}

int baseline_update(baseline_connection *connection, const baseline_song *songs, size_t count) {
    const char *sql = "UPDATE ZSONG SET Z_OPT = ?, ZPLAYCOUNT = ?, ZTITLE = ? WHERE Z_PK = ? AND Z_OPT = ?";
    return change_all(connection, sql, update_row, songs, count);
}

int baseline_delete(baseline_connection *connection, const baseline_song *songs, size_t count) {
    return change_all(connection, "DELETE FROM ZSONG WHERE Z_PK = ? AND Z_OPT = ?", delete_row, songs, count);
}

/// Runs a statement with one date in a transaction of its own.
static int change_before(sqlite3 *connection, const char *sql, double date) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, sql, &statement);
    if (code == SQLITE_OK) {
        sqlite3_bind_double(statement, 1, date);
        code = sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(connection);
    }
    sqlite3_finalize(statement);
    return code;
}

int baseline_play_before(baseline_connection *connection, double date) {
    const char *sql = "UPDATE ZSONG SET ZPLAYCOUNT = ZPLAYCOUNT + 1, Z_OPT = Z_OPT + 1 WHERE ZADDEDAT < ?";
    return change_before(connection, sql, date);
}

int baseline_delete_before(baseline_connection *connection, double date) {
    return change_before(connection, "DELETE FROM ZSONG WHERE ZADDEDAT < ?", date);
}

/// Whether there is a row with the song's title.
static int find(sqlite3_stmt *statement, const baseline_song *song, int *is_found) {
    sqlite3_bind_text(statement, 1, song->title, song->title_length, SQLITE_STATIC);
    *is_found = sqlite3_step(statement) == SQLITE_ROW;
    return sqlite3_reset(statement);
}

int baseline_find_or_create(baseline_connection *connection, const baseline_song *songs, const int64_t *picks, size_t count) {
    sqlite3_stmt *finding = NULL, *inserting = NULL;
    int code = prepare(connection, "SELECT " COLUMNS " FROM ZSONG WHERE ZTITLE = ?", &finding);
    if (code == SQLITE_OK) code = prepare(connection, INSERT, &inserting);
    if (code == SQLITE_OK) code = execute(connection, "BEGIN IMMEDIATE");
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) {
        int is_found = 0;
        code = find(finding, &songs[picks[i]], &is_found);
        if (code == SQLITE_OK && !is_found) code = insert_row(inserting, &songs[picks[i]]);
    }
    code = finish(connection, code);
    sqlite3_finalize(finding);
    sqlite3_finalize(inserting);
    return code;
}
