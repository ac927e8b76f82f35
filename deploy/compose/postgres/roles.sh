#!/bin/sh
# Make the roles and the database of the catalog, on a primary that is made for the first time.
#
# The image of PostgreSQL runs it once. PGDATA is its data folder; OWNER_PASSWORD_FILE and
# REPLICATION_PASSWORD_FILE name the secrets.
set -eu

# psql reads the secrets itself, so that they stand in no list of processes.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 \
    --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\set owner `cat "$OWNER_PASSWORD_FILE"`
\set replication `cat "$REPLICATION_PASSWORD_FILE"`

-- Callers' views are read as this role. It belongs to the whole server, and a login without
-- CREATEROLE cannot make it, so it is made here.
CREATE ROLE skillyard_reader NOLOGIN;

CREATE ROLE skillyard LOGIN PASSWORD :'owner';
GRANT skillyard_reader TO skillyard;
-- A synchronous publish looks for its standby first.
GRANT pg_monitor TO skillyard;
CREATE DATABASE skillyard OWNER skillyard;

CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication';
SQL

# The image lets every role reach every database, and none replicate.
echo 'host replication replicator samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
