import type { Mutant } from './table.ts'

// Bugs of the host agent: pods, their disks, volumes and ports.

const RECONCILE = 'src/host-agent/workloads/reconcile.ts'
const LOG_SPOOL = 'src/host-agent/logs/spool.ts'

/** Killed by the tests of the agent's parts. */
export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'the silence of a host counts from its last stop',
    file: 'src/host-agent/plane/lease.ts',
    find: 'this.sinceMs + silenceMs - performance.now()',
    replace: 'silenceMs',
  },
  {
    id: 'a worker is stopped by its oldest job',
    file: 'src/host-agent/plane/take-times.ts',
    find: 'this.lastMs.set(workerId, nowMs)',
    replace: 'if (!this.lastMs.has(workerId)) this.lastMs.set(workerId, nowMs)',
  },
  {
    id: 'a worker without a job is waited for',
    file: 'src/host-agent/plane/take-times.ts',
    find: '?? sinceMs), maxMs)',
    replace: '?? 0), maxMs)',
  },
  {
    id: 'a stop poll counts as a take',
    file: 'src/host-agent/relay/relay.ts',
    find: 'isTake(route) && status === 200',
    replace: 'status === 200',
  },
  {
    id: 'a poll without work counts as a take',
    file: 'src/host-agent/relay/relay.ts',
    find: 'isTake(route) && status === 200',
    replace: 'isTake(route)',
  },
  {
    id: 'two containers of a pod at a time',
    file: RECONCILE,
    find: "return replaces.every((id) => !actual.has(id) || (keepDisk && actual.get(id)?.phase === 'held'))",
    replace: 'return replaces.length >= 0 || keepDisk || actual.size > 0',
  },
  {
    id: 'a new disk does not wait for the removal of the old one',
    file: RECONCILE,
    find: "(keepDisk && actual.get(id)?.phase === 'held')",
    replace: "actual.get(id)?.phase === 'held' || (keepDisk && false)",
  },
  { id: 'the oldest disk is gone on with', file: RECONCILE, find: '(keepDisk ? replaces.find(', replace: '(keepDisk ? replaces.findLast(' },
  {
    id: 'the former container goes before the new one runs',
    file: RECONCILE,
    find: "return actual?.phase === 'running' || actual?.phase === 'stopping'",
    replace: "return actual?.phase === 'starting' || actual?.phase === 'running' || actual?.phase === 'stopping'",
  },
  {
    id: 'a volume is wiped under a running container',
    file: RECONCILE,
    find: "actual.has(id) && actual.get(id)?.phase !== 'held')",
    replace: "actual.has(id) && actual.get(id)?.phase === 'removing')",
  },
  { id: 'every kind of volume is wiped', file: RECONCILE, find: "(mount.kind === 'persistent' ? [mount.id] : [])", replace: '[mount.id]' },
  {
    id: 'a pod that ends loses its disk',
    file: 'src/host-agent/workloads/lifecycle.ts',
    find: "return runtime.keepsDisk && record?.kind !== 'worker'",
    replace: 'return runtime.keepsDisk && record === undefined',
  },
  {
    id: 'an exit is told at the time of its discovery',
    file: 'src/host-agent/workloads/ledger.ts',
    find: 'at: atMs ?? this.deps.now()',
    replace: 'at: Math.max(atMs ?? 0, this.deps.now())',
  },
  {
    id: 'the user sets what is the platform’s',
    file: 'src/host-agent/docker/container-spec.ts',
    find: "if (name.startsWith('RUNPOD_') || !env.has(name))",
    replace: 'if (!env.has(name))',
  },
  {
    id: 'the keys of what is stopping come out',
    file: 'src/host-agent/logs/shipper.ts',
    find: " && workload.desired === 'running') stream",
    replace: ') stream',
  },
  {
    id: 'any text reaches the engine',
    file: 'src/host-agent/workloads/lifecycle.ts',
    find: 'const isReference = isImageReference(workload.image)',
    replace: "const isReference = workload.image !== '' || isImageReference('')",
  },
  {
    id: 'the engine client follows where it is led',
    file: 'src/host-agent/docker/client.ts',
    find: 'guardTransport(docker.modem as unknown as Modem)',
    replace: 'if (docker.modem === undefined) guardTransport(docker.modem as unknown as Modem)',
  },
  {
    id: 'answers of the engine without bound',
    file: 'src/host-agent/docker/engine-transport.ts',
    find: 'if (left < 0) return',
    replace: 'if (left < -(2 ** 40)) return',
  },
  { id: 'a start that kills the agent is tried for ever', file: RECONCILE, find: 'MAX_ATTEMPTS = 2', replace: 'MAX_ATTEMPTS = 1000' },
  {
    id: 'an agent that is upgraded counts as one that died',
    file: 'src/host-agent/workloads/lifecycle.ts',
    find: "if (phase === 'starting') this.deps.ledger.forgetStart(id)",
    replace: "if (phase === 'held') this.deps.ledger.forgetStart(id)",
  },
  {
    id: 'any image that the engine finds will do',
    file: 'src/host-agent/docker/container-image.ts',
    find: 'return names !== undefined && isNamed(image, names)',
    replace: 'return names !== undefined && (isNamed(image, names) || true)',
  },
  {
    id: 'a private image is everybody’s once it is here',
    file: 'src/host-agent/docker/container-image.ts',
    find: '|| this.privateRepositories.has(repositoryOf(image))) return false',
    replace: ') return false',
  },
  {
    id: 'one host port for two workloads',
    file: 'src/host-agent/docker/host-ports.ts',
    find: 'new Set([...refused, ...[...this.inUse.values()].flat()])',
    replace: 'new Set([...refused])',
  },
  {
    id: 'an acknowledgement removes the lines that a full disk took late',
    file: LOG_SPOOL,
    find: 'this.segments = this.segments.filter((unwritten) => unwritten.path !== path)',
    replace: '',
  },
  {
    id: 'a full disk loses the place in the output',
    file: LOG_SPOOL,
    find: 'return this.segments.findLast(({ bytes }) => bytes > 0)',
    replace: 'return this.segments.at(-1)',
  },
  {
    id: 'an image opens all GPUs of the machine',
    file: 'src/host-agent/docker/container-spec.ts',
    find: "env.set(VISIBLE_GPUS, gpuIds.length > 0 ? gpuIds.join(',') : NO_GPU)",
    replace: 'if (!env.has(VISIBLE_GPUS)) env.set(VISIBLE_GPUS, NO_GPU + gpuIds.length)',
  },
  {
    id: 'what an engine that went away had made stays',
    file: 'src/host-agent/docker/container-start.ts',
    find: 'if (labels?.[HOST_LABEL] === hostId && labels[WORKLOAD_LABEL] === workloadId) await engine.remove(name)',
    replace: 'if (labels?.[HOST_LABEL] === hostId && labels[WORKLOAD_LABEL] === hostId) await engine.remove(name)',
  },
  {
    id: 'a record that the full disk refused is a failure',
    file: 'src/host-agent/workloads/records.ts',
    find: '      this.unwritten.add(record.id)\n      return false',
    replace: "      throw new Error('ENOSPC')",
  },
  {
    id: 'workers start while the host is out of touch',
    file: 'src/host-agent/workloads/supervisor.ts',
    find: "if (this.workersPaused && action.workload.kind === 'worker') break",
    replace: "if (this.workersPaused && action.workload.kind === 'worker' && this.closed) break",
  },
  {
    id: 'a key is served from any address',
    file: 'src/host-agent/relay/door/callers.ts',
    find: 'isStill && caller.addresses.includes(address) ? caller.id : undefined',
    replace: 'isStill ? caller.id : undefined',
  },
  {
    id: 'a worker speaks under another name',
    file: 'src/host-agent/relay/relay.ts',
    find: 'if (route.worker !== caller) return await door.refuse(response)',
    replace: '',
  },
  {
    id: 'a connection carries any number of requests at a time',
    file: 'src/host-agent/relay/door/door.ts',
    find: 'return former === undefined || former.writableEnded',
    replace: 'return former !== response',
  },
  {
    id: 'greedy workloads leave nobody a part',
    file: 'src/host-agent/relay/room.ts',
    find: 'if (own + amount <= part) return true',
    replace: 'if (own + amount <= part && this.total + amount <= this.max * OWN_PART) return true',
  },
  {
    id: 'what was recorded and not told stays untold',
    file: 'src/host-agent/workloads/supervisor.ts',
    find: '    this.deps.ledger.repeatAll()\n',
    replace: '',
  },
  {
    id: 'a container keeps the powers that it was not given',
    file: 'src/host-agent/profile/container-profile.ts',
    find: "CapDrop: ['ALL']",
    replace: "CapDrop: ['MKNOD']",
  },
  {
    id: 'an old runc is not told to the operator',
    file: 'src/host-agent/profile/versions.ts',
    find: 'if (difference !== 0) return difference < 0',
    replace: 'if (difference !== 0) return difference > 0',
  },
  {
    id: 'built-in programs run as the user of the agent',
    file: 'src/host-agent/process/runtime.ts',
    find: '...(user === undefined ? {} : { uid: user, gid: user }),',
    replace: '',
  },
  {
    id: 'built-in images are on by themselves',
    file: 'src/host-agent/options.ts',
    find: "return builtinImages ? undefined : new Set(['docker'])",
    replace: 'return undefined',
  },
  {
    id: 'all memory of a host is offered',
    file: 'src/host-agent/machine/inventory.ts',
    find: 'totalMb - reserved)',
    replace: 'totalMb)',
  },
  {
    id: 'a volume is seen as it is',
    file: 'src/host-agent/mounts/guarded-view.ts',
    find: "await run('mount', ['-o', `remount,bind,${WANTED.join(',')}`, view])",
    replace: '',
  },
  {
    id: 'GPUs are offered with any toolkit',
    file: 'src/host-agent/profile/nvidia-toolkit.ts',
    find: 'problem === null || allowOld',
    replace: 'problem !== null || allowOld',
  },
]
