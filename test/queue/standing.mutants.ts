import type { Mutant } from '../support/mutant.ts'

const FILE = 'src/queue/standing.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the end of a channel leaves its standing pings',
    file: FILE,
    find: '    if (!named.has(worker.id)) endStanding(tx, worker, tx.nowMs)\n',
    replace: '',
  },
  {
    id: 'a channel of one host ends the standing pings of others',
    file: FILE,
    find: '    if (worker.hostId !== hostId) continue\n',
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
    find: 'if (tx.state.workers.stops(from.workerId).length > 0) tx',
    replace: 'if (tx.state.workers.stops(from.workerId).length < 0) tx',
  },
  {
    id: 'a channel that ended with the plane costs a retry',
    file: 'src/queue/loaded.ts',
    find: 'meta.alarmTrusts()',
    replace: 'meta.deleted()',
  },
  {
    id: 'an event of its host leaves a standing ping',
    file: 'src/queue/workers/host-events.ts',
    find: "    if (event.kind !== 'lost') recallStanding(tx, [id])\n",
    replace: '',
  },
]
