import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'unencrypted packets of a host that encrypts are accepted',
    file: 'src/host-agent/network/overlay/overlay-rules.ts',
    find: '...(encrypted.peers.length > 0 ?',
    replace: '...(encrypted.peers.length > 999 ?',
  },
  {
    id: 'a tunnel accepts packets of any host',
    file: 'src/host-agent/network/overlay/overlay-rules.ts',
    find: "` ip saddr != { ${hosts.join(', ')} }`",
    replace: "` ip saddr { ${hosts.join(', ')} }`",
  },
]
