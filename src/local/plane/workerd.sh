#!/usr/bin/env bash
# Runs the runtime with a buffer process behind its output. Without the buffer, the runtime's only thread blocks in a write to its log
# once the launcher has not read some 280 lines.
# With `flock`, the lock on the storage ends with the runtime, whichever process or container started it.
if command -v flock >/dev/null; then
  exec 9>>"$PODPLANE_RUNTIME_LOCK"
  if ! flock -n 9; then
    echo "the storage is in use by another runtime ($PODPLANE_RUNTIME_LOCK)" >&2
    exit 75
  fi
fi
exec "$PODPLANE_WORKERD" "$@" > >(exec "$PODPLANE_NODE" "$PODPLANE_OUTPUT_BUFFER" 3>&- 9>&-) 2>&1
