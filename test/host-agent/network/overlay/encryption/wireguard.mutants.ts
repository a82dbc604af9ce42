import type { Mutant } from '../../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'packets go unencrypted to a host without a key although that is refused',
    file: 'src/host-agent/network/overlay/peers.ts',
    find: 'plain: isPlainRefused ? [] : withoutKey',
    replace: 'plain: withoutKey',
  },
  {
    id: 'the route to a host is open while nothing encrypts',
    file: 'src/host-agent/network/overlay/encryption/wire-routes.ts',
    find: 'route add prohibit ${address}',
    replace: 'route add unicast ${address}',
  },
]
