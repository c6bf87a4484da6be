#!/bin/sh
# Copies a SQLite database while servers use it, verifies the copy, and deletes old copies.
# Usage: animal-store-backup.sh DATABASE DIRECTORY [NUMBER OF COPIES TO KEEP, default 14]
# Needs: sqlite3 3.27 or newer, the permission to write to the database (SQLite's locks), room for a copy in DIRECTORY.
# A copy contains the hashes of keys and the secret that signs cursors: keep it as private as the database.
set -eu
umask 077

database=$1
directory=$2
keep=${3:-14}
case $keep in
'' | 0 | *[!0-9]*) echo "animal-store-backup: the number of copies must be a whole number above 0" >&2 && exit 2 ;;
esac
case $directory in
*\'*) echo "animal-store-backup: the directory must not contain a quote" >&2 && exit 2 ;;
esac
# sqlite3 would create a missing file and copy nothing.
if [ ! -f "$database" ]; then
  echo "animal-store-backup: there is no database at $database" >&2
  exit 1
fi

mkdir -p "$directory"
copy=$directory/animal-store-$(date -u +%Y%m%dT%H%M%SZ).db
# An interrupted backup leaves a .partial file, never a broken copy.
partial=$copy.partial
trap 'rm -f "$partial"' EXIT
# A signal or a power failure leaves the file of that run.
rm -f "$directory"/animal-store-*.db.partial "$directory"/animal-store-*.db.partial-journal

sqlite3 -bail -cmd '.timeout 30000' "$database" "VACUUM INTO '$partial'"
result=$(sqlite3 -bail "$partial" 'PRAGMA integrity_check')
if [ "$result" != ok ]; then
  echo "animal-store-backup: the copy is damaged: $result" >&2
  exit 1
fi
sync "$partial"
mv "$partial" "$copy"
sync "$directory"

# The names sort by time.
find "$directory" -maxdepth 1 -name 'animal-store-*.db' | sort -r | tail -n "+$((keep + 1))" | while IFS= read -r old; do
  rm -f "$old"
done
echo "animal-store-backup: wrote $copy"
