import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a key is accepted from any address',
    file: 'src/host-agent/relay/admission/callers.ts',
    find: 'isStill && caller.addresses.includes(address) ? caller.id : undefined',
    replace: 'isStill ? caller.id : undefined',
  },
  {
    id: 'H1: the relay serves unknown callers',
    file: 'src/host-agent/relay/admission/admission.ts',
    find: 'if (caller === undefined) {',
    replace: "if (caller === 'nobody') {",
  },
  {
    id: 'M2: requests are read before others are answered',
    file: 'src/host-agent/relay/admission/admission.ts',
    find: 'return previous === undefined || previous.writableEnded',
    replace: 'return previous === undefined || previous !== response',
  },
]
