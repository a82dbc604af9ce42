import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the engine client follows redirects',
    file: 'src/host-agent/docker/engine/client.ts',
    find: 'guardTransport(docker.modem as unknown as Modem)',
    replace: 'if (docker.modem === undefined) guardTransport(docker.modem as unknown as Modem)',
  },
  {
    id: 'answers of the engine have no size limit',
    file: 'src/host-agent/docker/engine/engine-transport.ts',
    find: 'if (left < 0) return',
    replace: 'if (left < -(2 ** 40)) return',
  },
]
