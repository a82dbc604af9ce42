import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { chooseGpus } from '../../../src/host-agent/gpus/allocation.ts'
import { groupGpus, parseCudaVersion, parseGpuQuery } from '../../../src/host-agent/gpus/nvidia-smi.ts'
import { parseSimulatedGpus } from '../../../src/host-agent/gpus/simulated.ts'
import { buildInventory, offeredMemoryMb } from '../../../src/host-agent/machine/inventory.ts'
import { protectFromOom } from '../../../src/host-agent/machine/oom.ts'
import { Inventory } from '../../../src/host-protocol/messages.ts'
import { tempDir } from '../support/temp-dir.ts'

const H200 = 'NVIDIA H200, 143771, 570.124.06, GPU-8a2c5e1f-3f0b-6d4e-9a71-2b8d1c9e7f10\n'
const H200_BANNER = `
Fri Nov 20 10:11:12 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
`
const MIXED = [
  'NVIDIA GeForce RTX 4090, 24564, 550.90.07, GPU-aaaaaaaa-0000-0000-0000-000000000001',
  'NVIDIA GeForce RTX 4090, 24564, 550.90.07, GPU-aaaaaaaa-0000-0000-0000-000000000002',
  'NVIDIA L4, 23034, 550.90.07, GPU-bbbbbbbb-0000-0000-0000-000000000001',
].join('\n')

describe('nvidia-smi', () => {
  test('one H200', ({ expect }) => {
    expect(groupGpus(parseGpuQuery(H200), parseCudaVersion(H200_BANNER))).toEqual([
      { typeId: 'NVIDIA H200', count: 1, memoryMb: 143_771, driverVersion: '570.124.06', cudaVersion: '12.8', simulated: false },
    ])
  })

  test('equal GPUs are counted together', ({ expect }) => {
    const groups = groupGpus(parseGpuQuery(MIXED), null)
    expect(groups.map(({ typeId, count }) => [typeId, count])).toEqual([
      ['NVIDIA GeForce RTX 4090', 2],
      ['NVIDIA L4', 1],
    ])
  })

  test('unified memory reads as 0, warnings and empty lines as nothing', ({ expect }) => {
    expect(parseGpuQuery('NVIDIA GB10, [N/A], 580.95.05, GPU-cccc\n\nWARNING: infoROM is corrupted at gpu 0000:01:00.0\n')).toEqual([
      { typeId: 'NVIDIA GB10', memoryMb: 0, driverVersion: '580.95.05', uuid: 'GPU-cccc' },
    ])
    expect(parseGpuQuery('No devices were found\n')).toEqual([])
    expect(parseCudaVersion('CUDA Version: N/A')).toBeNull()
    expect(parseCudaVersion('| NVIDIA-SMI 580.95 | CUDA UMD Version: 13.0 |')).toBe('13.0')
  })
})

describe('simulated GPUs', () => {
  test('each adds CPU, memory and disk to the inventory', ({ expect }) => {
    const machine = { os: 'Linux', vcpus: 4, memoryMb: 8_000, diskGb: 100 }
    const inventory = buildInventory(machine, [], parseSimulatedGpus('NVIDIA L4:2, NVIDIA GeForce RTX 4090'), ['process'])
    expect(Inventory.parse(inventory)).toMatchObject({ vcpus: 4 + 48, memoryMb: 8_000 + 3 * 131_072, diskGb: 1_600, simulated: true })
    expect(inventory.gpus.map(({ typeId, count }) => [typeId, count])).toEqual([
      ['NVIDIA L4', 2],
      ['NVIDIA GeForce RTX 4090', 1],
    ])
  })

  test('[PP-152] report a driver and a CUDA version', ({ expect }) => {
    expect(parseSimulatedGpus('NVIDIA L4:2')).toEqual([
      { typeId: 'NVIDIA L4', count: 2, memoryMb: 24_576, driverVersion: '580.95.05', cudaVersion: '13.0', simulated: true },
    ])
  })

  test.for(['NVIDIA L4:0', 'NVIDIA L4:x', ':2', 'NVIDIA L4:2000', 'NVIDIA L4=2'])('refuses %s, naming the flag', (text, { expect }) => {
    expect(() => parseSimulatedGpus(text)).toThrow(/^--simulate-gpus has '/)
  })
})

describe('GPU allocation', () => {
  const gpus = { devices: parseGpuQuery(MIXED), simulatedTypes: new Set(['NVIDIA B200']) }
  const first = 'GPU-aaaaaaaa-0000-0000-0000-000000000001'
  const second = 'GPU-aaaaaaaa-0000-0000-0000-000000000002'

  test('allocates free devices of the type, and none twice', ({ expect }) => {
    expect(chooseGpus(gpus, new Set(), { typeId: 'NVIDIA GeForce RTX 4090', count: 2 })).toEqual([first, second])
    expect(chooseGpus(gpus, new Set([first]), { typeId: 'NVIDIA GeForce RTX 4090', count: 1 })).toEqual([second])
    expect(chooseGpus(gpus, new Set([first]), { typeId: 'NVIDIA GeForce RTX 4090', count: 2 })).toBeUndefined()
  })

  test('allocates no device for a simulated type or for no GPU', ({ expect }) => {
    expect(chooseGpus(gpus, new Set(), { typeId: 'NVIDIA B200', count: 8 })).toEqual([])
    expect(chooseGpus(gpus, new Set(), null)).toEqual([])
  })
})

test.for([
  // of, offered
  [1_024, 4_096],
  [4_200, 4_096],
  [8_192, 7_782],
  [24_105, 22_899],
  [2_097_152, 2_088_960],
] as const)('[HOST-93][H9] of %s MB of memory %s are offered', ([total, offered], { expect }) => {
  expect(offeredMemoryMb(total)).toBe(offered)
})

test('[HOST-93] an agent protects itself from the OOM killer, and detects when it may not', ({ expect }) => {
  const file = join(tempDir('oom'), 'oom_score_adj')
  expect(protectFromOom(file)).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe('-900')
  expect(protectFromOom('/nowhere/oom_score_adj')).toBe(false)
})
