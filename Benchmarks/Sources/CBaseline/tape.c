#include "statements.h"
#include <stdlib.h>
#include <string.h>

/// One value of a row; texts and bytes are in the tape's own memory.
typedef struct {
    int32_t type;
    int32_t length;
    union {
        int64_t integer;
        double real;
        char *bytes;
    };
} value;

typedef struct {
    char *insertion;
    int columns;
    size_t count, capacity;
    value *values;
} table;

struct baseline_tape {
    int count;
    table *tables;
};

static char *copy_bytes(const void *bytes, int length) {
    char *copy = malloc((size_t)length + 1);
    if (length > 0) memcpy(copy, bytes, (size_t)length);
    copy[length] = 0;
    return copy;
}

static value read_value(sqlite3_stmt *statement, int column) {
    value result = {.type = sqlite3_column_type(statement, column)};
    switch (result.type) {
    case SQLITE_INTEGER: result.integer = sqlite3_column_int64(statement, column); break;
    case SQLITE_FLOAT: result.real = sqlite3_column_double(statement, column); break;
    case SQLITE_NULL: break;
    default:
        result.bytes = copy_bytes(sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column));
        result.length = sqlite3_column_bytes(statement, column);
    }
    return result;
}

static void append_row(table *table, sqlite3_stmt *statement) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity * 2 + 1024;
        table->values = realloc(table->values, table->capacity * (size_t)table->columns * sizeof(value));
    }
    value *row = table->values + table->count * (size_t)table->columns;
    for (int column = 0; column < table->columns; column++) row[column] = read_value(statement, column);
    table->count += 1;
}

static int read_table(sqlite3 *connection, const char *name, table *table) {
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM %s ORDER BY Z_PK", name);
    int code = prepare(connection, sql, &statement);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    table->columns = sqlite3_column_count(statement);
    char *insertion = sqlite3_mprintf("INSERT INTO %s VALUES(?", name);
    for (int column = 1; column < table->columns; column++) insertion = sqlite3_mprintf("%z, ?", insertion);
    table->insertion = sqlite3_mprintf("%z)", insertion);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) append_row(table, statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int baseline_tape_read(const char *path, const char *const *names, int count, baseline_tape **tape) {
    sqlite3 *connection = NULL;
    baseline_tape *result = calloc(1, sizeof *result);
    result->count = count;
    result->tables = calloc((size_t)count, sizeof(table));
    *tape = result;
    int code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL);
    for (int index = 0; code == SQLITE_OK && index < count; index++) code = read_table(connection, names[index], &result->tables[index]);
    sqlite3_close(connection);
    return code;
}

static int insert_value(sqlite3_stmt *statement, int parameter, const value *value) {
    switch (value->type) {
    case SQLITE_INTEGER: return sqlite3_bind_int64(statement, parameter, value->integer);
    case SQLITE_FLOAT: return sqlite3_bind_double(statement, parameter, value->real);
    case SQLITE_TEXT: return sqlite3_bind_text(statement, parameter, value->bytes, value->length, SQLITE_STATIC);
    case SQLITE_BLOB: return sqlite3_bind_blob(statement, parameter, value->bytes, value->length, SQLITE_STATIC);
    default: return sqlite3_bind_null(statement, parameter);
    }
}

static int insert_rows(const table *table, sqlite3_stmt *statement, size_t first, size_t count) {
    int code = SQLITE_OK;
    for (size_t row = first; code == SQLITE_OK && row < first + count; row++) {
        const value *values = table->values + row * (size_t)table->columns;
        for (int column = 0; column < table->columns; column++) insert_value(statement, column + 1, &values[column]);
        sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    return code;
}

int baseline_tape_play(baseline_connection *connection, const baseline_tape *tape, const int64_t *counts, size_t saves) {
    sqlite3_stmt **statements = calloc((size_t)tape->count, sizeof *statements);
    size_t *next = calloc((size_t)tape->count, sizeof *next);
    int code = SQLITE_OK;
    for (int index = 0; code == SQLITE_OK && index < tape->count; index++)
        code = prepare(connection, tape->tables[index].insertion, &statements[index]);
    for (size_t save = 0; code == SQLITE_OK && save < saves; save++) {
        code = execute(connection, "BEGIN IMMEDIATE");
        for (int index = 0; code == SQLITE_OK && index < tape->count; index++) {
            size_t count = (size_t)counts[save * (size_t)tape->count + (size_t)index];
            code = insert_rows(&tape->tables[index], statements[index], next[index], count);
            next[index] += count;
        }
        code = finish(connection, code);
    }
    for (int index = 0; index < tape->count; index++) sqlite3_finalize(statements[index]);
    free(statements);
    free(next);
    return code;
}

static int run_each(sqlite3 *source, const char *query, sqlite3 *target) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(source, query, &statement);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        code = execute(target, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return code;
}

int baseline_copy_schema(const char *from, const char *to) {
    sqlite3 *source = NULL, *target = NULL;
    int code = sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) code = sqlite3_open(to, &target);
    if (code == SQLITE_OK)
        code = execute(target, "PRAGMA page_size=4096; PRAGMA auto_vacuum=2; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    if (code == SQLITE_OK) code = run_each(source, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%'", target);
    if (code == SQLITE_OK) code = run_each(source, "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL", target);
    sqlite3_close(source);
    sqlite3_close(target);
    return code;
}

int baseline_count_differences(const char *one, const char *other, const char *table, const char *columns, int64_t *differences) {
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_open_v2(one, &connection, SQLITE_OPEN_READONLY, NULL);
    char *attach = sqlite3_mprintf("ATTACH %Q AS other", other);
    if (code == SQLITE_OK) code = execute(connection, attach);
    char *sql = sqlite3_mprintf(
        "SELECT (SELECT COUNT(*) FROM (SELECT %s FROM main.%s EXCEPT SELECT %s FROM other.%s))"
        " + ABS((SELECT COUNT(*) FROM main.%s) - (SELECT COUNT(*) FROM other.%s))",
        columns, table, columns, table, table, table
    );
    if (code == SQLITE_OK) code = prepare(connection, sql, &statement);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) *differences = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    sqlite3_free(attach);
    sqlite3_close(connection);
    return code;
}

void baseline_tape_free(baseline_tape *tape) {
    if (!tape) return;
    for (int index = 0; index < tape->count; index++) {
        table *table = &tape->tables[index];
        for (size_t at = 0; at < table->count * (size_t)table->columns; at++)
            if (table->values[at].type == SQLITE_TEXT || table->values[at].type == SQLITE_BLOB) free(table->values[at].bytes);
        free(table->values);
        sqlite3_free(table->insertion);
    }
    free(tape->tables);
    free(tape);
}
