import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import type { GpuReading } from '../../../src/host-agent/gpus/health.ts'
import { GpuHealthWatch } from '../../../src/host-agent/gpus/health-watch.ts'
import { NVIDIA } from '../../../src/host-agent/gpus/nvidia/nvidia.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { waitUntil } from '../../support/time.ts'
import { installProgram } from '../support/fake-program.ts'
import { fakeVendor } from '../support/fake-vendor.ts'
import { A, B, GEFORCE, H200, HELP_580, KERNEL_LOG, readHealth, V100S } from '../support/nvidia-answers.ts'

describe('watch', () => {
  let dir: string
  const path = process.env.PATH
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'podplane-smi-'))
    process.env.PATH = `${dir}${delimiter}${path}`
    fake('journalctl', '', 1)
    fake('dmesg', '')
  })
  afterEach(() => {
    process.env.PATH = path
    rmSync(dir, { recursive: true, force: true })
  })

  function fake(program: string, output: string, exitCode = 0): void {
    installProgram(dir, program, `cat <<'END'\n${output}END\nexit ${exitCode}`)
  }

  async function watching<T>(body: (watch: GpuHealthWatch) => Promise<T>, vendors = [NVIDIA]): Promise<T> {
    const watch = new GpuHealthWatch({ vendors, log: silentLog(), intervalMs: 20 })
    watch.start()
    try {
      return await body(watch)
    } finally {
      watch.close()
    }
  }
  const nextChange = (watch: GpuHealthWatch) => waitUntil('a change', () => watch.forBeat(false).gpuHealth)

  test('[HOST-41] says nothing before its first look, all in the first beat of a link, and then only what has changed', async ({
    expect,
  }) => {
    fake('nvidia-smi', GEFORCE)
    await watching(async (watch) => {
      expect(watch.forBeat(true)).toEqual({})
      expect(await nextChange(watch)).toEqual([])
      expect(watch.forBeat(false)).toEqual({})
      expect(watch.forBeat(true)).toEqual({ gpuHealth: [] })
      fake('dmesg', KERNEL_LOG.replaceAll('af:00', '01:00'))
      expect(await nextChange(watch)).toEqual([
        { index: 0, uuid: A, problem: 'XID 79: GPU has fallen off the bus' },
        { index: null, uuid: null, problem: 'XID 48: double-bit ECC error (0000:3b:00)' },
      ])
      expect(watch.forBeat(false)).toEqual({})
    })
  })

  test('[HOST-41] asks a driver for what it knows, and again after one that knows less has come', async ({ expect }) => {
    const driver = (help: string, answer: string, knows: string) =>
      installProgram(
        dir,
        'nvidia-smi',
        `case "$1" in\n--help-query-gpu) cat <<'END'\n${help}\nEND\n;;\n*${knows}) cat <<'END'\n${answer}END\n;;\n*) echo 'Field is not a valid field to query.'; exit 2;;\nesac`,
      )
    driver(HELP_580, H200.replace(', None', ', Reset'), 'gpu_recovery_action')
    await watching(async (watch) => {
      expect(await nextChange(watch)).toMatchObject([{ problem: 'its driver asks for: Reset' }])
      driver(
        HELP_580.replace('"gpu_recovery_action"', ''),
        H200.replace(', None', '').replace('35, No', '35, Yes'),
        'temperature.gpu.tlimit',
      )
      expect(await nextChange(watch)).toMatchObject([{ problem: 'memory rows wait to be remapped; reset the GPU' }])
    })
  })

  test('[HOST-41] a driver that fails twice is a problem, and one that answers again is none', async ({ expect }) => {
    fake('nvidia-smi', GEFORCE)
    await watching(async (watch) => {
      expect(await nextChange(watch)).toEqual([])
      fake('nvidia-smi', 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.\n', 9)
      expect(await nextChange(watch)).toEqual([{ index: null, uuid: null, problem: 'nvidia-smi does not answer' }])
      fake('nvidia-smi', GEFORCE)
      expect(await nextChange(watch)).toEqual([])
    })
  })

  test('[HOST-41] one GPU that is lost does not hide the others', async ({ expect }) => {
    fake('nvidia-smi', V100S)
    await watching(async (watch) => {
      await nextChange(watch)
      fake('nvidia-smi', `${V100S.split('\n')[0]}\nUnable to determine the device handle for GPU0000:AF:00.0: Unknown Error\n`, 15)
      expect(await nextChange(watch)).toEqual([{ index: 1, uuid: B, problem: 'not seen by the driver any more' }])
    })
  })

  test('[HOST-41] a driver that does not answer hides no problem of another vendor', async ({ expect }) => {
    fake('nvidia-smi', 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.\n', 9)
    const reading = { ...(readHealth(GEFORCE)[0] as GpuReading), uuid: 'X-1', uncorrectedErrors: 1 }
    const other = fakeVendor({ health: () => ({ read: async () => [reading], findErrors: () => [] }) })
    const ecc = { index: 0, uuid: 'X-1', problem: 'uncorrectable ECC errors' }
    await watching(
      async (watch) => {
        expect(await nextChange(watch)).toEqual([ecc])
        expect(await nextChange(watch)).toEqual([{ index: null, uuid: null, problem: 'nvidia-smi does not answer' }, ecc])
      },
      [NVIDIA, other],
    )
  })
})
