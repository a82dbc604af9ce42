import { describe, test } from 'vitest'
import { judgeToolkit, readToolkitVersion } from '../../../../src/host-agent/gpus/nvidia/toolkit.ts'

describe('NVIDIA container toolkit', () => {
  const answers: Record<string, string> = {
    'nvidia-ctk': 'NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80a9b9d0db00d9b1d73c0128c8962c55f4d\n',
    'nvidia-container-cli': 'cli-version: 1.14.6\nlib-version: 1.14.6\n',
  }
  const ask =
    (...programs: string[]) =>
    async (program: string) => {
      const answer = programs.includes(program) ? answers[program] : undefined
      if (answer === undefined) throw new Error('ENOENT')
      return answer
    }

  test('[HOST-90] names its version by whichever program is there', async ({ expect }) => {
    expect(await readToolkitVersion(ask('nvidia-ctk', 'nvidia-container-cli'))).toBe('1.17.8')
    expect(await readToolkitVersion(ask('nvidia-container-cli'))).toBe('1.14.6')
    expect(await readToolkitVersion(ask())).toBeNull()
  })

  test('[HOST-90][H9] an old or unknown one gets no GPU work, unless the operator says so', ({ expect }) => {
    const old = 'NVIDIA container toolkit: 1.17.7 is older than 1.17.8'
    expect(judgeToolkit('1.17.8', false)).toEqual({ offersGpus: true, missing: null })
    expect(judgeToolkit('1.17.7', false)).toEqual({
      offersGpus: false,
      missing: `${old}; no GPU is offered (--allow-old-nvidia-toolkit)`,
    })
    expect(judgeToolkit('1.17.7', true)).toEqual({ offersGpus: true, missing: old })
    expect(judgeToolkit(null, false).offersGpus).toBe(false)
  })
})
