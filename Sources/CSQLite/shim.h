// Debian's library is built with these; the header hides their declarations unless told.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_COLUMN_METADATA 1
#include <sqlite3.h>

// sqlite3_db_config takes variable arguments, which Swift cannot pass.
static inline int cd_sqlite3_db_config(sqlite3 *connection, int option, int value) {
    return sqlite3_db_config(connection, option, value, (int *)0);
}
