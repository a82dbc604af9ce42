import type { Mutant } from '../../support/mutant.ts'

const FILE = 'src/host-agent/relay/channel/open-polls.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an agent keeps parts of answers for calls that do not wait',
    file: FILE,
    find: "if (poll?.frame.type === 'take' && !poll.isDropped && !this.parts.keep(n, text)) this.context.cut()",
    replace: 'if (!this.parts.keep(n, text) && poll) this.context.cut()',
  },
  {
    id: 'an agent keeps an answer of any length',
    file: FILE,
    find: 'const MAX_ANSWER_CHARS = 64 * 2 ** 20',
    replace: 'const MAX_ANSWER_CHARS = Number.MAX_SAFE_INTEGER',
  },
  {
    id: 'an agent names calls that are left as open',
    file: FILE,
    find: '.filter(([, { isLeft, kept }]) => !isLeft && !kept)',
    replace: '',
  },
  {
    id: 'a stop list answers a take',
    file: FILE,
    find: "type === (to.type === 'take' ? 'job' : 'stop')",
    replace: 'to !== undefined',
  },
]
