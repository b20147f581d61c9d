// Debian's library is built with these; the header hides their declarations unless told.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_COLUMN_METADATA 1
#include <sqlite3.h>
