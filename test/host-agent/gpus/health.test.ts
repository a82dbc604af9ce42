import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import {
  findGpuProblems,
  type GpuFacts,
  type GpuReading,
  healthFieldsOf,
  isHot,
  parseHealthQuery as parseFields,
  parseXids,
} from '../../../src/host-agent/gpus/health.ts'
import { GpuHealthWatch } from '../../../src/host-agent/gpus/health-watch.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { waitUntil } from '../../support/time.ts'
import { installProgram } from '../support/fake-program.ts'

const A = 'GPU-8a2c5e1f-3f0b-6d4e-9a71-2b8d1c9e7f10'
const B = 'GPU-1b7d0a52-c8de-11ee-8f3a-0242ac120002'
const V100S = `0, ${A}, 00000000:3B:00.0, 0, No, 41\n1, ${B}, 00000000:AF:00.0, 3, Yes, 97\n`
const GEFORCE = `0, ${A}, 00000000:01:00.0, [N/A], [N/A], 45\n`
/** Help text of driver 580.159.04 on its fields, and below its line for an H200 with the fields of `healthFieldsOf`. */
const HELP_580 = readFileSync(join(import.meta.dirname, 'recorded/help-query-gpu-580.txt'), 'utf8')
const H200 = '0, GPU-f5cb92b2-142c-4206-50c9-a7de2a2b9df0, 00000000:00:06.0, 0, [N/A], 35, No, No, 52, None\n'
const KERNEL_LOG = `
[    4.102030] nvidia: loading out-of-tree module taints kernel.
[  911.502361] NVRM: Xid (PCI:0000:3b:00): 31, pid=41232, name=python3, Ch 00000010, intr 00000000. MMU Fault
[ 2412.118403] NVRM: Xid (PCI:0000:af:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[ 2412.118409] NVRM: Xid (PCI:0000:af:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
Nov 20 10:11:12 gpu-07 kernel: NVRM: Xid (PCI:0000:3b:00.0): 48, pid=77, name=train, DBE (double bit error) detected
`

const parseHealthQuery = (csv: string, help = '') => parseFields(csv, healthFieldsOf(help))

describe('nvidia-smi', () => {
  test('[HOST-41] reads ECC errors, pending retirement and temperature', ({ expect }) => {
    const unknown = { remapPending: false, remapFailed: false, marginC: null, recovery: null }
    expect(parseHealthQuery(V100S)).toEqual([
      { index: 0, uuid: A, pciAddress: '0000:3b:00', uncorrectedErrors: 0, retirementPending: false, temperatureC: 41, ...unknown },
      { index: 1, uuid: B, pciAddress: '0000:af:00', uncorrectedErrors: 3, retirementPending: true, temperatureC: 97, ...unknown },
    ])
  })

  test('[HOST-41] queries remapped rows, the temperature limit and the recovery action of a newer driver', ({ expect }) => {
    expect(healthFieldsOf(HELP_580).slice(6)).toEqual([
      'remapped_rows.pending',
      'remapped_rows.failure',
      'temperature.gpu.tlimit',
      'gpu_recovery_action',
    ])
    expect(healthFieldsOf(HELP_580.replace('"gpu_recovery_action"', ''))).not.toContain('gpu_recovery_action')
    expect(healthFieldsOf('nvidia-smi: command not found')).toHaveLength(6)
    const healthy = { remapPending: false, remapFailed: false, temperatureC: 35, marginC: 52, recovery: null }
    expect(parseHealthQuery(H200, HELP_580)).toMatchObject([{ pciAddress: '0000:00:06', uncorrectedErrors: 0, ...healthy }])
    const ill = H200.replace('35, No, No, 52, None', '88, Yes, Yes, -1, Reset')
    expect(parseHealthQuery(ill, HELP_580)).toMatchObject([
      { remapPending: true, remapFailed: true, temperatureC: 88, marginC: -1, recovery: 'Reset' },
    ])
    expect(parseHealthQuery(H200.replace('52, None', '[N/A], [N/A]'), HELP_580)).toMatchObject([{ marginC: null, recovery: null }])
  })

  test('a GPU without ECC, and lines that are no GPU', ({ expect }) => {
    expect(parseHealthQuery(GEFORCE)).toMatchObject([{ uncorrectedErrors: null, retirementPending: false, temperatureC: 45 }])
    expect(parseHealthQuery('No devices were found\n')).toEqual([])
    expect(parseHealthQuery('Unable to determine the device handle for GPU0000:AF:00.0: Unknown Error\n')).toEqual([])
    expect(parseHealthQuery(`${GEFORCE}WARNING: infoROM is corrupted at gpu 0000:01:00.0\n`)).toHaveLength(1)
    expect(parseHealthQuery(`0, ${A}, 00000000:01:00.0, [Unknown Error], [Not Supported], [GPU requires reset]`)).toMatchObject([
      { uncorrectedErrors: null, retirementPending: false, temperatureC: null },
    ])
  })
})

describe('kernel log', () => {
  test('[HOST-41] names hardware errors once, and leaves out those of programs', ({ expect }) => {
    expect(parseXids(KERNEL_LOG)).toEqual([
      { pciAddress: '0000:af:00', code: 79 },
      { pciAddress: '0000:3b:00', code: 48 },
    ])
    expect(parseXids('')).toEqual([])
  })
})

describe('problems', () => {
  const readings = parseHealthQuery(V100S)
  const known = new Map(readings.map((reading) => [reading.uuid, reading]))
  const facts = (change: Partial<GpuFacts> = {}): GpuFacts => ({ known, current: readings, xids: [], hot: new Set(), ...change })
  const texts = (change: Partial<GpuFacts> = {}) => findGpuProblems(facts(change)).map(({ index, problem }) => `${index}: ${problem}`)

  test('[HOST-41] of each GPU', ({ expect }) => {
    expect(texts()).toEqual([
      '1: uncorrectable ECC errors',
      '1: memory pages wait for retirement; reset the GPU',
      '1: overheated (95 °C or more)',
    ])
  })

  test('[HOST-41] of a GPU of a newer kind', ({ expect }) => {
    const textsOf = (cells: string) =>
      texts({ current: parseHealthQuery(H200.replace('35, No, No, 52, None', cells), HELP_580), known: new Map() })
    expect(textsOf('60, No, No, 27, None')).toEqual([])
    expect(textsOf('87, Yes, No, 0, Drain and Reset')).toEqual([
      '0: memory rows wait to be remapped; reset the GPU',
      '0: overheated (at the limit of this GPU)',
      '0: its driver asks for: Drain and Reset',
    ])
    expect(textsOf('60, No, Yes, 27, None')).toEqual(['0: a memory row could not be remapped; replace the GPU'])
  })

  test('[HOST-41] of a GPU that the driver has stopped listing, and of a driver that does not answer', ({ expect }) => {
    expect(texts({ current: readings.slice(0, 1) })).toEqual(['1: not seen by the driver any more'])
    expect(texts({ current: undefined })).toEqual(['null: nvidia-smi does not answer'])
  })

  test('[HOST-41] errors of the kernel log belong to the GPU with that address', ({ expect }) => {
    const xids = parseXids(KERNEL_LOG)
    expect(texts({ current: readings.slice(0, 1), xids })).toEqual([
      '1: not seen by the driver any more',
      '1: XID 79: GPU has fallen off the bus',
      '0: XID 48: double-bit ECC error',
    ])
    expect(texts({ known: new Map(), current: [], xids: xids.slice(0, 1) })).toEqual([
      'null: XID 79: GPU has fallen off the bus (0000:af:00)',
    ])
  })

  test('a GPU is hot from 95 °C until it is below 90 °C', ({ expect }) => {
    const at = (temperatureC: number | null, was: boolean) =>
      isHot({ ...(readings[0] as GpuReading), temperatureC }, new Set(was ? [A] : []))
    expect([at(94, false), at(95, false), at(90, true), at(89, true), at(null, true)]).toEqual([false, true, true, false, false])
  })

  test('a GPU that states its limit is hot at the limit, until it is 5 °C below', ({ expect }) => {
    const at = (marginC: number, was: boolean) => isHot({ ...(readings[1] as GpuReading), marginC }, new Set(was ? [B] : []))
    expect([at(1, false), at(0, false), at(-3, false), at(4, true), at(5, true)]).toEqual([false, true, true, true, false])
  })
})

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

  async function watching<T>(body: (watch: GpuHealthWatch) => Promise<T>): Promise<T> {
    const watch = new GpuHealthWatch({ log: silentLog(), intervalMs: 20 })
    watch.start()
    try {
      return await body(watch)
    } finally {
      watch.close()
    }
  }
  const nextChange = (watch: GpuHealthWatch) => waitUntil('a change', () => watch.forBeat(false).gpuHealth)

  test('[HOST-41] reports nothing before its first reading, all in the first beat of a link, and then only changes', async ({ expect }) => {
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

  test('[HOST-41] queries only fields that the driver knows, and detects them again after a downgrade', async ({ expect }) => {
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
})
