#define _GNU_SOURCE
#include "statements.h"
#include <string.h>

static void add_row(sqlite3_stmt *statement, int columns, baseline_answer *answer) {
    answer->rows += 1;
    for (int i = 0; i < columns; i++) {
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER: answer->integers += sqlite3_column_int64(statement, i); break;
        case SQLITE_FLOAT: answer->reals += sqlite3_column_double(statement, i); break;
        case SQLITE_TEXT:
            if (sqlite3_column_text(statement, i)) answer->text_bytes += sqlite3_column_bytes(statement, i);
            break;
        case SQLITE_BLOB:
            if (sqlite3_column_blob(statement, i)) answer->text_bytes += sqlite3_column_bytes(statement, i);
            break;
        default: break;
        }
    }
}

int baseline_ask(baseline_connection *connection, const char *sql, baseline_answer *answer) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, sql, &statement);
    if (code != SQLITE_OK) return code;
    int columns = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) add_row(statement, columns, answer);
    return sqlite3_finalize(statement);
}

int baseline_run(baseline_connection *connection, const char *sql) { return execute(connection, sql); }

/// Folds UTF-8 of scalars below U+0250; copies what is beyond.
static size_t fold(const baseline_folding *folding, const uint8_t *text, size_t count, uint8_t *result) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned scalar = text[i];
        if (scalar >= 0xC0 && scalar < 0xCA && i + 1 < count) scalar = (scalar & 0x1F) << 6 | (text[++i] & 0x3F);
        if (scalar < BASELINE_FOLDED) {
            memcpy(result + length, folding->bytes[scalar], folding->counts[scalar]);
            length += folding->counts[scalar];
        } else {
            result[length++] = (uint8_t)scalar;
        }
    }
    return length;
}

/// folded_contains(text, folded part): as `CONTAINS[cd]` does.
static void folded_contains(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    uint8_t folded[4096];
    const uint8_t *text = sqlite3_value_text(values[0]);
    const uint8_t *part = sqlite3_value_text(values[1]);
    int length = sqlite3_value_bytes(values[0]);
    if (!text || !part || length > 1000) { sqlite3_result_null(context); return; }
    size_t found = fold(sqlite3_user_data(context), text, (size_t)length, folded);
    sqlite3_result_int(context, memmem(folded, found, part, (size_t)sqlite3_value_bytes(values[1])) != NULL);
}

int baseline_add_folding(baseline_connection *connection, const baseline_folding *folding) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    // The function reads the table and never writes it.
    return sqlite3_create_function(connection, "folded_contains", 2, flags, (void *)folding, folded_contains, NULL, NULL);
}
