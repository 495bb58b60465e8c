#!/bin/sh
# Makes the secrets that are not there yet, and the proxy's folder. Run it as root: the containers' user and group (65532) have to get at them.
set -eu
cd "$(dirname "$0")"
umask 027
mkdir -p secrets
for key in signing-key reference-key master-key database-password; do
  [ -e "secrets/$key" ] || openssl rand -hex 32 > "secrets/$key"
done
if [ ! -e secrets/store-url ]; then
  printf 'postgres://gateway:%s@%%2Fvar%%2Frun%%2Fpostgresql/gateway\n' "$(cat secrets/database-password)" > secrets/store-url
fi
if [ ! -e secrets/mail-password ]; then
  echo "secrets/mail-password is missing: put the password of the mail server there, in one line" >&2
fi
# Certificates and their keys: keep it, or the authority's limits may keep you waiting for new ones.
mkdir -p proxy-state
chown 65532:65532 proxy-state
chmod 0700 proxy-state
chgrp -R 65532 secrets
chmod 0750 secrets
find secrets -type f -exec chmod 0640 {} +
