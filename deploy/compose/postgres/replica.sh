#!/bin/sh
# Run a standby of PRIMARY_HOST, copied from it when there is nothing yet.
#
# PGDATA is its data folder, REPLICATION_PASSWORD_FILE names the secret, STANDBY_NAME is the name
# that stands in the primary's synchronous_standby_names. Arguments go to the server.
set -eu
umask 077

# The standby reads the password from here again whenever it connects.
PGPASSFILE=${PASSWORD_FOLDER:-/tmp}/replication.pgpass
export PGPASSFILE
# Colons and backslashes mean something in that file.
printf '*:*:*:replicator:%s\n' "$(sed 's/[\\:]/\\&/g' "$REPLICATION_PASSWORD_FILE")" >"$PGPASSFILE"

primary="host=$PRIMARY_HOST port=${PRIMARY_PORT:-5432} user=replicator"

# A volume may come with more rights than the server takes.
mkdir -p "$PGDATA"
chmod 700 "$PGDATA"

# Only a new folder becomes a standby: a promoted one stays what it is when it starts again.
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    tries=${TRIES:-60}
    until pg_basebackup --no-password --checkpoint=fast --wal-method=stream \
        --dbname="$primary" --pgdata="$PGDATA"; do
        tries=$((tries - 1))
        if [ "$tries" -le 0 ]; then
            echo "replica.sh: $PRIMARY_HOST cannot be copied" >&2
            exit 1
        fi
        sleep 2
    done
    touch "$PGDATA/standby.signal"
fi

exec postgres "$@" -c hot_standby=on \
    -c "primary_conninfo=$primary passfile=$PGPASSFILE application_name=$STANDBY_NAME"
