#!/bin/sh
# JupyterLab on port 8888. The platform made JUPYTER_PASSWORD when the pod was created with startJupyter.
mkdir -p "${WORKSPACE:-/workspace}"
exec python3 -m jupyterlab --allow-root --no-browser --ip=0.0.0.0 --port=8888 \
  --ServerApp.allow_origin='*' --ServerApp.allow_remote_access=True --IdentityProvider.token="$JUPYTER_PASSWORD" \
  --ServerApp.root_dir="${WORKSPACE:-/workspace}"
