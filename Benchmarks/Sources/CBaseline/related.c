#include "statements.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t key;
    int64_t version;
    int64_t shelf;
    int64_t pages;
} book;

typedef struct {
    int64_t key;
    int64_t version;
    char *name;
    int name_length;
    size_t first_book;
    size_t book_count;
} shelf;

typedef struct {
    void *items;
    size_t count;
    size_t capacity;
} list;

static void *append(list *list, size_t size) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 1024;
        list->items = realloc(list->items, list->capacity * size);
    }
    return (char *)list->items + size * list->count++;
}

static int read_shelves(sqlite3 *connection, list *shelves) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(connection, "SELECT Z_PK, Z_OPT, ZNAME FROM ZSHELF ORDER BY Z_PK", &statement);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        shelf *next = append(shelves, sizeof *next);
        *next = (shelf){.key = sqlite3_column_int64(statement, 0), .version = sqlite3_column_int64(statement, 1)};
        const unsigned char *name = sqlite3_column_text(statement, 2);
        next->name_length = sqlite3_column_bytes(statement, 2);
        next->name = malloc((size_t)next->name_length + 1);
        memcpy(next->name, name ? (const char *)name : "", (size_t)next->name_length + 1);
    }
    int ending = sqlite3_finalize(statement);
    return code == SQLITE_OK ? ending : code;
}

/// Reads the books of all shelves, which are in the order of their keys.
static int read_books(sqlite3 *connection, list *shelves, list *books) {
    sqlite3_stmt *statement = NULL;
    int code = prepare(
        connection, "SELECT Z_PK, Z_OPT, ZSHELF, ZPAGES FROM ZSHELFBOOK WHERE ZSHELF IS NOT NULL ORDER BY ZSHELF", &statement
    );
    shelf *owner = shelves->items, *end = owner + shelves->count;
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        book *next = append(books, sizeof *next);
        next->key = sqlite3_column_int64(statement, 0);
        next->version = sqlite3_column_int64(statement, 1);
        next->shelf = sqlite3_column_int64(statement, 2);
        next->pages = sqlite3_column_int64(statement, 3);
        while (owner < end && owner->key < next->shelf) owner++;
        if (owner == end || owner->key != next->shelf) continue;
        if (owner->book_count == 0) owner->first_book = books->count - 1;
        owner->book_count++;
    }
    int ending = sqlite3_finalize(statement);
    return code == SQLITE_OK ? ending : code;
}

static void add_shelf(const shelf *shelf, const book *books, baseline_answer *answer) {
    answer->rows += 1 + (int64_t)shelf->book_count;
    answer->text_bytes += (int64_t)strlen(shelf->name);
    for (size_t i = 0; i < shelf->book_count; i++) answer->integers += books[shelf->first_book + i].pages;
}

int baseline_read_shelves(baseline_connection *connection, baseline_answer *answer) {
    list shelves = {0}, books = {0};
    int code = read_shelves(connection, &shelves);
    if (code == SQLITE_OK) code = read_books(connection, &shelves, &books);
    shelf *all = shelves.items;
    for (size_t i = 0; i < shelves.count; i++) {
        if (code == SQLITE_OK) add_shelf(&all[i], books.items, answer);
        free(all[i].name);
    }
    free(books.items);
    free(shelves.items);
    return code;
}
