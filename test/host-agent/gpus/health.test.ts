import { describe, test } from 'vitest'
import { findGpuProblems, type GpuFacts, type GpuReading, isHot } from '../../../src/host-agent/gpus/health.ts'
import { parseXids } from '../../../src/host-agent/gpus/nvidia/health.ts'
import { A, B, H200, HELP_580, KERNEL_LOG, readHealth, V100S } from '../support/nvidia-answers.ts'

describe('problems', () => {
  const readings = readHealth(V100S)
  const known = new Map(readings.map((reading) => [reading.uuid, reading]))
  const facts = (change: Partial<GpuFacts> = {}): GpuFacts => ({
    tool: 'nvidia-smi',
    known,
    current: readings,
    errors: [],
    hot: new Set(),
    ...change,
  })
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
      texts({ current: readHealth(H200.replace('35, No, No, 52, None', cells), HELP_580), known: new Map() })
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
    const errors = parseXids(KERNEL_LOG)
    expect(texts({ current: readings.slice(0, 1), errors })).toEqual([
      '1: not seen by the driver any more',
      '1: XID 79: GPU has fallen off the bus',
      '0: XID 48: double-bit ECC error',
    ])
    expect(texts({ known: new Map(), current: [], errors: errors.slice(0, 1) })).toEqual([
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
