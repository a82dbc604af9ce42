import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the env of the user overrides variables of the platform',
    file: 'src/host-agent/docker/container/container-spec.ts',
    find: "if (name.startsWith('RUNPOD_') || !env.has(name))",
    replace: 'if (!env.has(name))',
  },
  {
    id: 'an image opens all GPUs of the machine',
    file: 'src/host-agent/docker/container/container-spec.ts',
    find: 'of Object.entries(gpuEnv)) env.set(name, value)',
    replace: 'of Object.entries(gpuEnv)) if (!env.has(name)) env.set(name, value)',
  },
]
