#ifndef C_BASELINE_H
#define C_BASELINE_H

#include <stddef.h>
#include <stdint.h>

/// What a C programmer would write against SQLite for the operations that `compare` measures: prepared statements,
/// one row per statement, bindings that copy nothing. Every function returns an SQLite result code, 0 for success.
typedef struct sqlite3 baseline_connection;

/// The values of one row; the texts are borrowed and need not be terminated.
typedef struct {
    int64_t key;
    int64_t version;
    const char *_Nonnull title;
    const char *_Nonnull artist;
    int32_t title_length;
    int32_t artist_length;
    double duration;
    double added_at;
    int64_t play_count;
    int16_t track_number;
    int16_t is_favorite;
    uint8_t uuid[16];
} baseline_song;

/// What a reading loop has seen. Compared with the expected values after the clock has stopped.
typedef struct {
    int64_t rows;
    int64_t title_bytes;
    int64_t plays;
    double seconds;
} baseline_tally;

/// Makes a file with the schema that Core Data gives the entity; `is_indexed` adds the fetch index on the title.
int baseline_create(const char *_Nonnull path, int is_indexed);

/// Makes a file with the schema that Core Data gives the entity with a uniqueness constraint on the title.
int baseline_create_unique(const char *_Nonnull path);

/// Opens with the pragmas of a store: WAL and synchronous=NORMAL.
int baseline_open(const char *_Nonnull path, baseline_connection *_Nullable *_Nonnull connection);
int baseline_close(baseline_connection *_Nullable connection);

/// Inserts in transactions of `chunk` rows.
int baseline_insert(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs, size_t count,
                    size_t chunk);

/// As `baseline_insert`, with a history of that in the tables of a store that keeps one. The keys follow each other.
int baseline_insert_with_history(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs, size_t count,
                                 size_t chunk);

/// As `baseline_insert`; a song whose title is there already is written over that row, which keeps its key.
int baseline_upsert(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs, size_t count,
                    size_t chunk);

/// Reads all columns of all rows.
int baseline_fetch(baseline_connection *_Nonnull connection, baseline_tally *_Nonnull tally);

/// Looks `songs[picks[i]].title` up, `count` times, one row each.
int baseline_fetch_indexed(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs,
                           const int64_t *_Nonnull picks, size_t count, baseline_tally *_Nonnull tally);

/// Counts all rows and those with more than `plays` plays, each `times` times; the sums are the answers.
int baseline_count(baseline_connection *_Nonnull connection, int64_t plays, int times, int64_t *_Nonnull all,
                   int64_t *_Nonnull matching);

/// Writes title and play count of each song, on condition of its version, in one transaction.
int baseline_update(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs, size_t count);

/// Deletes each song, on condition of its version, in one transaction.
int baseline_delete(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs, size_t count);

/// Plays each song that was added before a date once more: one statement.
int baseline_play_before(baseline_connection *_Nonnull connection, double date);

/// Deletes each song that was added before a date: one statement.
int baseline_delete_before(baseline_connection *_Nonnull connection, double date);

/// Reads the row of each key, one statement each.
int baseline_read_by_key(baseline_connection *_Nonnull connection, const int64_t *_Nonnull keys, size_t count,
                         baseline_tally *_Nonnull tally);

/// Looks each title up by its index; where there is none, inserts the song with the next key. One transaction.
int baseline_find_or_create(baseline_connection *_Nonnull connection, const baseline_song *_Nonnull songs,
                            const int64_t *_Nonnull picks, size_t count);

/// What all columns of all rows of an answer add up to.
typedef struct {
    int64_t rows;
    int64_t integers;
    int64_t text_bytes;
    double reals;
} baseline_answer;

/// Reads every column of every row.
int baseline_ask(baseline_connection *_Nonnull connection, const char *_Nonnull sql, baseline_answer *_Nonnull answer);

/// Reads all shelves and, with a second statement, their books into memory, each book with its shelf; then goes through the books of each shelf.
int baseline_read_shelves(baseline_connection *_Nonnull connection, baseline_answer *_Nonnull answer);

/// Runs statements that give no rows.
int baseline_run(baseline_connection *_Nonnull connection, const char *_Nonnull sql);

#define BASELINE_FOLDED 0x250

/// What the scalars below U+0250 become without case and accents, in UTF-8.
typedef struct {
    uint8_t counts[BASELINE_FOLDED];
    uint8_t bytes[BASELINE_FOLDED][4];
} baseline_folding;

/// Gives the connection the function `folded_contains(text, folded part)`. The table has to live as long as the connection.
int baseline_add_folding(baseline_connection *_Nonnull connection, const baseline_folding *_Nonnull folding);

/// Reads the file through a connection of its own: number of rows, and the sum over the rows of a hash of their values.
int baseline_checksum(const char *_Nonnull path, int64_t *_Nonnull count, uint64_t *_Nonnull sum);

/// The hash that `baseline_checksum` sums, for a song as it ought to be in the file.
uint64_t baseline_song_hash(const baseline_song *_Nonnull song);

/// The rows of some tables in memory, in the order of their keys.
typedef struct baseline_tape baseline_tape;

/// Reads whole tables; `*tape` is to be freed also after a failure.
int baseline_tape_read(const char *_Nonnull path, const char *_Nonnull const *_Nonnull names, int count,
                       baseline_tape *_Nullable *_Nonnull tape);

/// Inserts the rows again, one statement each, in `saves` transactions: in save `s`, the next `counts[s * tables + t]` rows of table `t`.
int baseline_tape_play(baseline_connection *_Nonnull connection, const baseline_tape *_Nonnull tape, const int64_t *_Nonnull counts,
                       size_t saves);
void baseline_tape_free(baseline_tape *_Nullable tape);

/// Makes a file with the tables and indexes of another one, empty, and the pragmas of a store.
int baseline_copy_schema(const char *_Nonnull from, const char *_Nonnull to);

/// How many rows of a table are in one file and not in the other.
int baseline_count_differences(const char *_Nonnull one, const char *_Nonnull other, const char *_Nonnull table,
                               const char *_Nonnull columns, int64_t *_Nonnull differences);

/// Bytes that the process has allocated and not freed.
size_t baseline_heap_bytes(void);

/// Gives memory that was freed back to the system.
void baseline_trim(void);

/// User and system time of the process, in seconds.
double baseline_cpu_seconds(void);

#endif
