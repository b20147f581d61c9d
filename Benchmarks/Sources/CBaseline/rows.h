#ifndef ROWS_H
#define ROWS_H

#include "statements.h"

/// A row's columns in the order of `COLUMNS`; texts and bytes belong to the statement.
typedef struct {
    int64_t entity;
    int is_uuid_complete;
    baseline_song song;
} row;

static inline void read_row(sqlite3_stmt *statement, row *result) {
    baseline_song *song = &result->song;
    result->entity = sqlite3_column_int64(statement, 0);
    song->key = sqlite3_column_int64(statement, 1);
    song->version = sqlite3_column_int64(statement, 2);
    song->is_favorite = (int16_t)sqlite3_column_int64(statement, 3);
    song->play_count = sqlite3_column_int64(statement, 4);
    song->track_number = (int16_t)sqlite3_column_int64(statement, 5);
    song->added_at = sqlite3_column_double(statement, 6);
    song->duration = sqlite3_column_double(statement, 7);
    song->artist = (const char *)sqlite3_column_text(statement, 8);
    song->artist_length = sqlite3_column_bytes(statement, 8);
    song->title = (const char *)sqlite3_column_text(statement, 9);
    song->title_length = sqlite3_column_bytes(statement, 9);
    const uint8_t *uuid = sqlite3_column_blob(statement, 10);
    result->is_uuid_complete = sqlite3_column_bytes(statement, 10) == sizeof song->uuid;
    if (result->is_uuid_complete) __builtin_memcpy(song->uuid, uuid, sizeof song->uuid);
}

#endif
