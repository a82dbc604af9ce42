import type { WorkloadFile } from '../../host-protocol/overlays.ts'
import type { PodSpec } from '../pod/record.ts'
import { nodeName, type Place, RAY_PORT } from './environment.ts'

/** Files that are written into members of SLURM and RAY clusters before they start (ENV-12, ENV-13). Pure. */

const OWNER_ONLY = 0o400
const READABLE = 0o644
const PROGRAM = 0o755

/** The facts that a member's files are made from. */
export interface MemberFacts {
  place: Place
  spec: Pick<PodSpec, 'cluster' | 'compute'>
  /** The same for every member. */
  vcpus: number
  memoryMb: number
  /** The base64 key with which members of a SLURM cluster authenticate each other; null where there is none. */
  mungeKey: string | null
}

/** Files that a member of a Ray or Slurm cluster gets; none for other types. */
export function clusterFiles(facts: MemberFacts): WorkloadFile[] {
  const type = facts.spec.cluster?.type
  if (type === 'RAY') return [{ path: '/usr/local/bin/podplane-ray', content: base64(RAY_START), mode: PROGRAM }]
  if (type !== 'SLURM') return []
  return [
    ...(facts.mungeKey === null ? [] : [{ path: '/etc/munge/munge.key', content: facts.mungeKey, mode: OWNER_ONLY, owner: 'munge' }]),
    { path: '/etc/slurm/slurm.conf', content: base64(slurmConf(facts)), mode: READABLE },
    { path: '/etc/slurm/gres.conf', content: base64(gresConf(facts.spec)), mode: READABLE },
    { path: '/etc/slurm/cgroup.conf', content: base64('CgroupPlugin=disabled\n'), mode: READABLE },
    { path: '/usr/local/bin/podplane-slurm', content: base64(SLURM_START), mode: PROGRAM },
  ]
}

/** The same text on every member, because SLURM compares it. Nodes that have more resources than it states use the stated ones. */
export function slurmConf({ place: { podCount }, spec: { compute }, vcpus, memoryMb }: Omit<MemberFacts, 'mungeKey'>): string {
  const gpus = compute.kind === 'gpu' ? compute.count : 0
  const nodes = `${nodeName(0).replace(/0$/, '')}[0-${podCount - 1}]`
  const cpus = Math.max(1, Math.floor(vcpus))
  return `${[
    'ClusterName=podplane',
    `SlurmctldHost=${nodeName(0)}`,
    'SlurmUser=root',
    'SlurmdUser=root',
    'AuthType=auth/munge',
    'CredType=cred/munge',
    'StateSaveLocation=/var/spool/slurmctld',
    'SlurmdSpoolDir=/var/spool/slurmd',
    'SlurmctldPidFile=/run/slurmctld.pid',
    'SlurmdPidFile=/run/slurmd.pid',
    'SlurmctldLogFile=/var/log/slurmctld.log',
    'SlurmdLogFile=/var/log/slurmd.log',
    // A container has no cgroups of its own to delegate.
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'JobAcctGatherType=jobacct_gather/none',
    'MpiDefault=none',
    'SwitchType=switch/none',
    'ReturnToService=2',
    'SlurmdParameters=config_overrides',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_Core_Memory',
    ...(gpus > 0 ? ['GresTypes=gpu'] : []),
    `NodeName=${nodes} CPUs=${cpus} RealMemory=${Math.max(1, Math.floor(memoryMb))}${gpus > 0 ? ` Gres=gpu:${gpus}` : ''} State=UNKNOWN`,
    `PartitionName=main Nodes=${nodes} Default=YES MaxTime=INFINITE State=UP`,
  ].join('\n')}\n`
}

// It names no device files: the container has the devices of its own GPUs and no others.
function gresConf({ compute }: Pick<PodSpec, 'compute'>): string {
  return compute.kind === 'gpu' ? `Name=gpu Count=${compute.count}\n` : ''
}

const SLURM_START = `#!/bin/sh
# Starts what a member of a SLURM cluster runs, and returns: the controller on rank 0, a node everywhere.
set -e
mkdir -p /run/munge /var/log/munge /var/lib/munge /var/spool/slurmctld /var/spool/slurmd
chown munge: /run/munge /var/log/munge /var/lib/munge /etc/munge/munge.key
# Jobs are given devices; simulated GPUs have none, so nodes have no GPUs to give then.
devices=$(ls /dev/nvidia[0-9]* 2>/dev/null || true)
if [ -n "$devices" ]; then
  for device in $devices; do echo "Name=gpu File=$device"; done >/etc/slurm/gres.conf
else
  sed -i -e '/^GresTypes=/d' -e 's/ Gres=gpu:[0-9]*//' /etc/slurm/slurm.conf
  : >/etc/slurm/gres.conf
fi
# The word for no control groups at all came later.
case "$(slurmd -V)" in *" 20."* | *" 21."* | *" 22."*) echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf ;; esac
su -s /bin/sh munge -c munged
[ "$NODE_RANK" != 0 ] || slurmctld
exec slurmd -N "node-$NODE_RANK"
`

const RAY_START = `#!/bin/sh
# Runs what a member of a RAY cluster runs, until it ends: the head on rank 0, a worker elsewhere.
if [ "$NODE_RANK" = 0 ]; then
  exec ray start --head --node-ip-address="$NODE_ADDR" --port=${RAY_PORT} --block "$@"
fi
until ray start --address="$RAY_ADDRESS" --node-ip-address="$NODE_ADDR" --block "$@"; do sleep 2; done
`

function base64(text: string): string {
  return btoa(text)
}
