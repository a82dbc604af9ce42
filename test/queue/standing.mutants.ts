import type { Mutant } from '../support/mutant.ts'

const FILE = 'src/queue/standing.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the end of a channel leaves its standing pings',
    file: FILE,
    find: '  keepStanding(tx, hostId, [])\n',
    replace: '',
  },
  {
    id: 'a channel of one host ends the standing pings of others',
    file: FILE,
    find: 'worker.hostId === hostId && !named.has(worker.id)',
    replace: '!named.has(worker.id)',
  },
  {
    id: 'a queue that rests trusts a worker that has gone quiet',
    file: FILE,
    find: "!('loadedAtMs' in worker) || worker.loadedAtMs !== null",
    replace: "!('loadedAtMs' in worker)",
  },
  {
    id: 'each rest of the queue prolongs the trust in an agent',
    file: FILE,
    find: 'heardAtMs === undefined || isDoubted ? 0 : heardAtMs + WATCH_MS',
    replace: 'heardAtMs === undefined || isDoubted ? 0 : Number.MAX_SAFE_INTEGER',
  },
  {
    id: 'a worker settles with a job that it has not confirmed',
    file: 'src/queue/pings.ts',
    find: ' && state.jobs.heldBy(from.workerId).every(({ acked }) => acked)',
    replace: '',
  },
  {
    id: 'an agent that does not answer a recall is seen at its end',
    file: FILE,
    find: 'Math.min(seenAtMs, worker.watchedUntilMs - limitMs)',
    replace: 'seenAtMs',
  },
  {
    id: 'a worker with stop orders may stop pinging',
    file: 'src/queue/pings.ts',
    find: 'return state.workers.stops(from.workerId).length === 0',
    replace: 'return state.workers.stops(from.workerId).length >= 0',
  },
  {
    id: 'a channel that ended with the plane costs a retry',
    file: 'src/queue/loaded.ts',
    find: 'meta.alarmTrust()?.hosts ?? []',
    replace: '[]',
  },
  {
    id: 'an event of its host leaves a standing ping',
    file: 'src/queue/workers/host-events.ts',
    find: "    if (event.kind !== 'lost') recallStanding(tx, [id])\n",
    replace: '',
  },
]
