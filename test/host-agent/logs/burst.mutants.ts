import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'what the engine sends twice is stored twice',
    file: 'src/host-agent/docker/streams/output.ts',
    find: 'time < mark.time && (this.isRepeat',
    replace: 'time < mark.time && false && (this.isRepeat',
  },
  {
    id: 'lines after a clock was set back never come',
    file: 'src/host-agent/docker/streams/output.ts',
    find: 'if (time < mark.time && !isPassed) return true',
    replace: 'if (time < mark.time) return true',
  },
  {
    id: 'a container that has ended is left in the middle of a doubt',
    file: 'src/host-agent/docker/runtime.ts',
    find: 'if (ended && doubt === undefined) return',
    replace: 'if (ended) return',
  },
]
