#!/bin/sh
# An image with its digest of today, as name:tag@sha256:…; asks the registry, pulls nothing.
#   sh examples/docker/digest.sh node:24-bookworm-slim
# Change: nothing.
set -eu
digest=$(docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}')
case $digest in
  sha256:*) echo "$1@$digest" ;;
  *) echo "no digest of $1" >&2; exit 1 ;;
esac
