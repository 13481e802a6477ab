#!/usr/bin/env bash
# From a token to a transparent statement and the keys that verify it, with curl. Node only reads members of JSON.
# Set ARCHIVIST_URL, ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET. The argument is the vCon's file.
set -euo pipefail
url=$ARCHIVIST_URL
file=${1:-call.vcon.json}
json() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }

token=$(curl -sf "$url/archivist/iam/v1/appidp/token" -d grant_type=client_credentials \
  -d client_id="$ARCHIVIST_CLIENT_ID" --data-urlencode client_secret="$ARCHIVIST_CLIENT_SECRET" | json access_token)

attributes=$(printf '{"vcon_operation": "vcon_created", "subject": "vcon://%s", "payload": "%s", "payload_hash_alg": "SHA-256"}' \
  "$(json uuid <"$file")" "$(sha256sum "$file" | cut -d ' ' -f 1)")
event=$(curl -sf "$url/archivist/v1/events" -H "authorization: Bearer $token" -H 'content-type: application/json' \
  -d "{\"attributes\": $attributes}" | json identity)

# The service answers 404 until the log has sealed the event.
get() { curl -sf --retry 60 --retry-delay 1 --retry-all-errors "$url$1" -H "authorization: Bearer $token" -o "$2"; }
get "/archivist/v1/$event/transparent-statement" call.cose
get /.well-known/scitt-keys log-keys.cbor
get /archivist/v1/didweb/did.json issuer-keys.json
echo "$event: transparent statement in call.cose"
