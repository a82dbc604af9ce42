import type { Mutant } from '../../support/mutant.ts'

const PINGS = 'src/host-agent/relay/channel/standing-pings.ts'
const POLLS = 'src/host-agent/relay/channel/open-polls.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'one ping is enough for the agent to answer',
    file: PINGS,
    find: 'return equal > SETTLED_AFTER ?',
    replace: 'return equal > 1 ?',
  },
  {
    id: 'a worker that goes quiet is not withdrawn',
    file: PINGS,
    find: 'nowMs - seenAtMs > QUIET_INTERVALS * this.intervalMs',
    replace: 'seenAtMs > nowMs',
  },
  {
    id: 'an event of a worker does not bring its pings back',
    file: PINGS,
    find: '{ ...known, equal: 0 }',
    replace: 'known',
  },
  {
    id: 'a job between two polls is dropped',
    file: POLLS,
    find: '      poll.kept = end\n',
    replace: '',
  },
  {
    id: 'a kept job of a worker that polls otherwise is not asked for again',
    file: POLLS,
    find: "      if (poll.kept.type === 'job') this.context.lost(poll.frame.worker)\n",
    replace: '',
  },
]
