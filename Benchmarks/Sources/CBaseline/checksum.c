#include "rows.h"

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 0x100000001b3;
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text, int32_t length) {
    hash = hash_bytes(hash, &length, sizeof length);
    return hash_bytes(hash, text, (size_t)length);
}

uint64_t baseline_song_hash(const baseline_song *song) {
    uint64_t hash = 0xcbf29ce484222325;
    hash = hash_bytes(hash, &song->version, sizeof song->version);
    hash = hash_bytes(hash, &song->is_favorite, sizeof song->is_favorite);
    hash = hash_bytes(hash, &song->play_count, sizeof song->play_count);
    hash = hash_bytes(hash, &song->track_number, sizeof song->track_number);
    hash = hash_bytes(hash, &song->added_at, sizeof song->added_at);
    hash = hash_bytes(hash, &song->duration, sizeof song->duration);
    hash = hash_text(hash, song->artist, song->artist_length);
    hash = hash_text(hash, song->title, song->title_length);
    return hash_bytes(hash, song->uuid, sizeof song->uuid);
}

int baseline_checksum(const char *path, int64_t *count, uint64_t *sum) {
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) code = prepare(connection, "SELECT " COLUMNS " FROM ZSONG", &statement);
    row current;
    *count = 0;
    *sum = 0;
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        read_row(statement, &current);
        if (current.entity != 1 || !current.is_uuid_complete) code = SQLITE_MISMATCH;
        *count += 1;
        *sum += baseline_song_hash(&current.song);
    }
    int ending = sqlite3_finalize(statement);
    sqlite3_close(connection);
    return code == SQLITE_OK ? ending : code;
}
