#!/bin/sh
# Builds Citus for Debian's PostgreSQL 15 into a folder of its own, for tests/scale/citus.py; as root, in about ten minutes.
#
#   tests/scale/build_citus.sh FOLDER [SOURCE]
#
# SOURCE is a checkout or an unpacked archive of https://github.com/citusdata/citus at v13.2.0; without it one is cloned.
set -eu
to=$(realpath -m "${1:?a folder to build into}")
mkdir -p "$to"
source=${2:-}
if [ -z "$source" ]; then
    source=$to/source
    [ -d "$source" ] || git clone --quiet --depth 1 --branch v13.2.0 https://github.com/citusdata/citus "$source"
fi
apt-get install -y -qq --no-install-recommends postgresql-15 postgresql-server-dev-15 libcurl4-openssl-dev libzstd-dev \
    liblz4-dev libssl-dev libxml2-dev libxslt1-dev libpam0g-dev libselinux1-dev libkrb5-dev libreadline-dev zlib1g-dev \
    flex make gcc
cd "$source"
# PostgreSQL 15.20 and later have a function of this name themselves.
sed -i 's/^have_createdb_privilege(void)/own_have_createdb_privilege(void)/' src/include/pg_version_compat.h
[ -f Makefile.global ] || PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config ./configure --quiet
make --quiet with_llvm=no -j"${JOBS:-$(nproc)}" extension
make --quiet with_llvm=no DESTDIR="$to" install-extension
# PostgreSQL looks for its extensions beside its programs, so these come along.
for part in usr/lib/postgresql/15 usr/share/postgresql/15; do
    mkdir -p "$to/$part"
    cp -an "/$part/." "$to/$part/"
done
echo ".venv/bin/python -m tests.scale.citus --programs $to/usr/lib/postgresql/15/bin"
