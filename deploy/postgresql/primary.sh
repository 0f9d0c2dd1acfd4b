# Prepares an empty server for Forky: its role and its database, and a role for the standby.
# The image of PostgreSQL runs this once, before the server is reachable from outside.
psql --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres \
    --set=forky="$FORKY_DATABASE_PASSWORD" --set=standby="$STANDBY_PASSWORD" <<'SQL'
CREATE ROLE forky LOGIN PASSWORD :'forky';
CREATE DATABASE forky OWNER forky ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'und' TEMPLATE template0;
CREATE ROLE standby LOGIN REPLICATION PASSWORD :'standby';
SQL
echo 'host replication standby all scram-sha-256' >> "$PGDATA/pg_hba.conf"
