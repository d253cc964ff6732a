#!/usr/bin/env bash
# A private PostgreSQL for tests: prints its URL when it answers, and is gone when standard input ends.
# usage: postgres_lab.sh [CONNECTIONS]
# Needs the server's programs (Debian: postgresql-15); exits with 77 and says so where they are missing.
set -euo pipefail
connections=${1:-64}

skip() { echo "$1" >&2; exit 77; }

programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
PATH=${programs:+$programs:}$PATH
for program in initdb postgres pg_isready; do
  command -v "$program" >/dev/null || skip "no PostgreSQL server here: $program is missing (Debian: postgresql-15)"
done

# The server refuses to be run by root, and its own user must be able to reach the directory.
as_user=()
base=${TMPDIR:-/tmp}
if [ "$(id -u)" -eq 0 ]; then
  id postgres >/dev/null 2>&1 || skip "root cannot run a PostgreSQL server, and there is no user postgres to run it"
  as_user=(setpriv --reuid=postgres --regid=postgres --init-groups --)
  base=/tmp
fi
cd "$base"
directory=$("${as_user[@]}" mktemp -d "$base/mneme-postgres.XXXXXX")
server=
stop() {
  if [ -n "$server" ]; then kill -QUIT "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap stop EXIT
trap 'exit 1' TERM INT HUP

"${as_user[@]}" initdb -D "$directory/data" -A trust -U mneme -E UTF8 --locale=C --no-sync >"$directory.log" 2>&1 ||
  { cat "$directory.log" >&2; rm -f "$directory.log"; exit 1; }
rm -f "$directory.log"
# Nothing in it outlives the test, so nothing is synced.
"${as_user[@]}" postgres -D "$directory/data" -F -c listen_addresses= -c unix_socket_directories="$directory" \
  -c max_connections="$connections" -c log_min_messages=fatal >/dev/null 2>&1 </dev/null &
server=$!
for _ in $(seq 600); do
  if pg_isready -q -h "$directory" -U mneme; then
    echo "postgresql:///postgres?host=$directory&user=mneme"
    cat >/dev/null
    exit 0
  fi
  kill -0 "$server" 2>/dev/null || { echo "the PostgreSQL server did not start" >&2; exit 1; }
  sleep 0.05
done
echo "the PostgreSQL server gave no answer" >&2
exit 1
