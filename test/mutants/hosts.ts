import type { Mutant } from './table.ts'

// Bugs of hosts: presence, health, identity, and their effect on the workloads there.

const PRESENCE = 'src/domain/host/presence.ts'
const HEALTH = 'src/domain/host/health.ts'

/** Killed by the unit tests of the pure rules. */
export const HOST_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'a GPU that does not say what it does counts as idle',
    file: 'src/domain/history/idle.ts',
    find: 'gpus.length < gpuCount ? null : ',
    replace: '',
  },
  {
    id: 'steps without a sample count as zero',
    file: 'src/domain/history/rollup.ts',
    find: 'sum / count',
    replace: 'sum / average.length',
  },
  {
    id: 'what is started pushes out the history of what lives',
    file: 'src/domain/history/chunk.ts',
    find: 'filter(([id]) => !wanted.has(id))',
    replace: 'filter(() => true)',
  },
  { id: 'an idle worker below min gives way', file: 'src/domain/room/give-way.ts', find: 'placed - needed', replace: 'placed' },
  {
    id: 'one that has no host yet stands for workers.min',
    file: 'src/domain/room/give-way.ts',
    find: "&& (w.phase === 'STARTING' || w.phase === 'READY')",
    replace: '',
  },
  { id: 'workers go beside jobs of their own', file: 'src/domain/room/give-way.ts', find: 'spare: hasQueue ? 0 : ', replace: 'spare: ' },
  {
    id: 'low priority jobs need no worker',
    file: 'src/domain/room/give-way.ts',
    find: 'inputs.queued + lowQueued > 0',
    replace: 'inputs.queued > 0',
  },
  {
    id: 'others wait no longer than the own account',
    file: 'src/domain/room/give-way.ts',
    find: 'own ? OWN_PAUSE_MS : OTHERS_PAUSE_MS',
    replace: 'OWN_PAUSE_MS',
  },
  {
    id: 'a pause between two jobs is enough',
    file: 'src/domain/room/give-way.ts',
    find: "use === 'idle' && idleMs >= pauseMs",
    replace: "use === 'idle'",
  },
  {
    id: 'everybody counts on one that never leaves',
    file: 'src/domain/room/give-way.ts',
    find: "attempts > MAX_REMOVALS ? 'stuck' : 'leaving'",
    replace: "'leaving'",
  },
  {
    id: 'strangers crowd out the own account',
    file: 'src/domain/room/give-way.ts',
    find: 'known.filter(({ own }) => own === asker.own).length',
    replace: 'known.length',
  },
  {
    id: 'who saw a worker at work is never told',
    file: 'src/domain/room/give-way.ts',
    find: 'seen: Math.min(seeker.seen, willing(seeker.own))',
    replace: 'seen: seeker.seen',
  },
  {
    id: 'somebody goes while enough is leaving',
    file: 'src/domain/room/room.ts',
    find: "    if (fits(search.request, host, held, leaving)) return { kind: 'coming' }\n",
    replace: '',
  },
  { id: 'an account below its share gives way', file: 'src/domain/room/room.ts', find: 'shareOf(giver) * accounts > 1 && ', replace: '' },
  { id: 'an account above its share takes more', file: 'src/domain/room/room.ts', find: ' && shareOf(asker) * accounts < 1', replace: '' },
  {
    id: 'strangers go below their share',
    file: 'src/domain/room/room.ts',
    find: '    left = left.filter((other) => other !== allocation)\n',
    replace: '',
  },
  {
    id: 'an endpoint gives more than it can spare',
    file: 'src/domain/room/room.ts',
    find: '    spare.set(allocation.ownerId, budget - 1)\n',
    replace: '    spare.set(allocation.ownerId, budget)\n',
  },
  {
    id: 'more go than are needed',
    file: 'src/domain/room/room.ts',
    find: 'return isEnough(without) ? without : chosen',
    replace: 'return chosen',
  },
  { id: 'the shortest idle one goes', file: 'src/domain/room/room.ts', find: 'b.idleMs - a.idleMs ||', replace: 'a.idleMs - b.idleMs ||' },
  {
    id: 'strangers go before the own account',
    file: 'src/domain/room/room.ts',
    find: 'Number(b.own) - Number(a.own)',
    replace: 'Number(a.own) - Number(b.own)',
  },
  {
    id: 'GPUs count for nothing in a share',
    file: 'src/domain/room/room.ts',
    find: "part(sum(held, 'memoryMb'), host.memoryMbTotal), ...gpus)",
    replace: "part(sum(held, 'memoryMb'), host.memoryMbTotal))",
  },
  {
    id: 'disk is not given back',
    file: 'src/domain/room/room.ts',
    find: "host.diskGbFree + sum(freed, 'diskGb')",
    replace: 'host.diskGbFree',
  },
  {
    id: 'strangers are named',
    file: 'src/domain/room/room-text.ts',
    find: 'const own = allocations.filter((allocation) => allocation.teamId === teamId)',
    replace: 'const own = [...allocations]',
  },
  {
    id: 'work is given away while its host may still run it',
    file: 'src/host-protocol/silence.ts',
    find: 'Math.max(SILENCE_MIN_MS, Math.min(ranMs, maxMs))',
    replace: 'Math.min(ranMs, maxMs)',
  },
  {
    id: 'a long job begins again after a short cut',
    file: 'src/host-protocol/silence.ts',
    find: 'Math.max(SILENCE_MIN_MS, Math.min(ranMs, maxMs))',
    replace: 'Math.max(SILENCE_MIN_MS, Math.min(0, ranMs, maxMs))',
  },
  {
    id: 'a job waits for ever',
    file: 'src/host-protocol/silence.ts',
    find: 'Math.min(ranMs, maxMs))',
    replace: 'Math.max(ranMs, maxMs))',
  },
  {
    id: 'the host stops its work no sooner than the plane',
    file: 'src/host-protocol/silence.ts',
    find: 'silenceWaitMs(ranMs, maxMs) - HOST_AHEAD_MS',
    replace: 'silenceWaitMs(ranMs, maxMs) + 0 * HOST_AHEAD_MS',
  },
  {
    id: 'the wait of a job is counted from its start',
    file: PRESENCE,
    find: 'silenceWaitMs(heardAtMs - (startedAtMs ?? heardAtMs), maxMs)',
    replace: 'silenceWaitMs((startedAtMs ?? heardAtMs) - heardAtMs, maxMs)',
  },
  { id: 'a host is suspect a beat too late', file: PRESENCE, find: '= 3 * BEAT_INTERVAL_MS', replace: '= 4 * BEAT_INTERVAL_MS' },
  { id: 'a host is lost a moment late', file: PRESENCE, find: 'return nowMs >= lostAtMs ?', replace: 'return nowMs > lostAtMs ?' },
  {
    id: 'cordoned hosts get workers',
    file: 'src/domain/host/placement.ts',
    find: "if (host.cordoned) failed.push('schedulable: yes > cordoned')",
    replace: '',
  },
  {
    id: 'a cordon that was lifted comes back',
    file: HEALTH,
    find: 'reported.filter((problem) => !keys.has(keyOf(problem)))',
    replace: 'reported.filter(() => true)',
  },
  {
    id: 'a lease is cut short when its host falls silent',
    file: 'src/domain/job/job.ts',
    find: 'leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, untilMs)',
    replace: 'leaseUntilMs: untilMs',
  },
  {
    id: 'a key of small order with the sign of x set passes',
    file: 'src/domain/host/public-key.ts',
    find: '? byte & ~SIGN_BIT : byte',
    replace: '? byte : byte',
  },
]

/** Killed by the tests against the real objects in workerd. */
export const HOST_OBJECT_MUTANTS: readonly Mutant[] = [
  {
    id: 'the last beat goes with its link',
    file: 'durable-objects/host/presence.ts',
    find: '{ ...found, lastBeatAtMs: this.lastBeatAtMs(found) }',
    replace: '{ ...found }',
  },
  {
    id: 'one job that waits no longer takes the others with it',
    file: 'src/queue/workers/host-events.ts',
    find: 'Math.max(untilMs(null), ...waits)',
    replace: 'Math.max(untilMs(null), waits.length === 0 ? 0 : Math.min(...waits))',
  },
  {
    id: 'a lost host takes jobs that still wait',
    file: 'src/queue/workers/host-events.ts',
    find: 'isLive(worker) && !isExcused(worker, tx.nowMs)',
    replace: 'isLive(worker)',
  },
  {
    id: 'a host that is back excuses its workers for ever',
    file: 'src/queue/workers/host-events.ts',
    find: "    case 'heard':\n      releaseWork(tx, worker)\n      return",
    replace: "    case 'heard':\n      return",
  },
  {
    id: 'nobody is told that a suspect host is back',
    file: 'durable-objects/host/presence.ts',
    find: "before.returned || before.stage !== 'LIVE'",
    replace: 'before.returned || isGone(before.stage)',
  },
  {
    id: 'a ping from a host without a link ends the wait',
    file: 'src/domain/job/job.ts',
    find: 'leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, nowMs + LEASE_INTERVALS * times.pingIntervalMs)',
    replace: 'leaseUntilMs: nowMs + LEASE_INTERVALS * times.pingIntervalMs',
  },
  {
    id: 'an assertion buys two tokens',
    file: 'durable-objects/host/link/assertions.ts',
    find: "return rowsWritten > 0 ? 'good' : 'used'",
    replace: "return 'good'",
  },
  {
    id: 'access tokens outlive their enrolment',
    file: 'src/services/hosts/host-enrolment.ts',
    find: '(await currentEpoch(env, claims.sub, nowMs)) === claims.epoch',
    replace: 'true',
  },
  {
    id: 'hosts are blamed for the absence of the plane',
    file: 'durable-objects/host/presence.ts',
    find: 'return cutUnseen || late ? { ...record, countFromMs: nowMs } : record',
    replace: 'return record',
  },
  {
    id: 'a beat that says nothing new is written',
    file: 'durable-objects/host/gpu-health.ts',
    find: 'if (sameProblems(this.read(REPORTED_KEY), problems)) return',
    replace: '',
  },
  {
    id: 'what does not run is told with its env',
    file: 'durable-objects/host/workload-store.ts',
    find: "rows.push(known.workload.desired === 'running' ? known :",
    replace: 'rows.push(known.workload.id ? known :',
  },
  {
    id: 'a part of what a host is to run is as large as it is',
    file: 'durable-objects/host/workload-store.ts',
    find: 'if (bytes >= maxBytes) return',
    replace: 'if (bytes >= maxBytes * 1000) return',
  },
  {
    id: 'a link that broke by its size is well again at once',
    file: 'durable-objects/host/desired-state.ts',
    find: 'this.isBroken() && revision >= this.store.revision()',
    replace: 'this.isBroken() && revision >= 0',
  },
  {
    id: 'env of what does not run is kept where it is told from',
    file: 'durable-objects/host/workload-store.ts',
    find: 'JSON.stringify(briefOf(workload)),',
    replace: 'JSON.stringify(workload),',
  },
  {
    id: 'a host is told more and more',
    file: 'durable-objects/host.ts',
    find: 'this.links.heardWithin(SUSPECT_AFTER_MS) && this.desired.hasRoom()',
    replace: 'this.links.heardWithin(SUSPECT_AFTER_MS)',
  },
  {
    id: 'a host that cannot be told anything is healthy',
    file: 'durable-objects/host/desired-state.ts',
    find: 'this.store.wantedBytes() > MAX_BYTES)',
    replace: 'this.store.wantedBytes() > MAX_BYTES * 100)',
  },
  {
    id: 'a cordon loses against a placement under way',
    file: 'src/db/hosts/capacity.ts',
    find: "status = 'ONLINE' AND cordoned_at IS NULL",
    replace: "status = 'ONLINE'",
  },
  {
    id: 'two accounts meet on a host that keeps nobody apart',
    file: 'src/db/hosts/tenancy.ts',
    find: 'held.team_id <> ${teamId}',
    replace: 'held.team_id <> held.team_id AND ${teamId} IS NOT NULL',
  },
  {
    id: 'a host that does not say whether it keeps accounts apart takes several',
    file: 'src/db/hosts/tenancy.ts',
    find: "OR json_extract(hosts.inventory, '$.isolation.network') = 1",
    replace: "OR json_extract(hosts.inventory, '$.isolation.network') IS NOT 0",
  },
  {
    id: 'a link that has not said hello is told everything',
    file: 'durable-objects/host/links.ts',
    find: 'for (const socket of this.inUse()) sendTo(socket, message)',
    replace: 'for (const socket of this.open()) sendTo(socket, message)',
  },
  {
    id: 'nobody hears of a link that was taken over',
    file: 'durable-objects/host/links.ts',
    find: '      onReplaced(newer, stateOf(other))\n',
    replace: '',
  },
  {
    id: 'a required runtime class counts for containers of any class',
    file: 'src/domain/host/placement.ts',
    find: 'wanted === undefined || wanted === found',
    replace: "wanted === undefined || found !== 'none'",
  },
]
