#!/bin/sh
# `podplane-slurm`, the key of munge and slurm.conf come with the cluster: they are there before this runs.
set -e
podplane-slurm
exec tail -F /var/log/slurmd.log
