#!/bin/sh
# Run once by the image of Postgres, when it makes its database: the role as whom Tieout runs, with its password. What the role may
# do is what `tieout migrate --roles` gives it.
set -eu
: "${RUNTIME_PASSWORD:?fill it in, in postgres.env}"
psql --set ON_ERROR_STOP=1 --set password="$RUNTIME_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
create role tieout_runtime login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
SQL
