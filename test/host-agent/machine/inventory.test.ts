import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { parseSimulatedGpus } from '../../../src/host-agent/gpus/simulated.ts'
import { buildInventory, offeredMemoryMb } from '../../../src/host-agent/machine/inventory.ts'
import { protectFromOom } from '../../../src/host-agent/machine/oom.ts'
import { Inventory } from '../../../src/host-protocol/messages.ts'
import { tempDir } from '../support/temp-dir.ts'

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

  test('[PLANE-22] report a driver and a CUDA version', ({ expect }) => {
    expect(parseSimulatedGpus('NVIDIA L4:2')).toEqual([
      { typeId: 'NVIDIA L4', count: 2, memoryMb: 24_576, driverVersion: '580.95.05', cudaVersion: '13.0', simulated: true },
    ])
  })

  test.for(['NVIDIA L4:0', 'NVIDIA L4:x', ':2', 'NVIDIA L4:2000', 'NVIDIA L4=2'])('refuses %s, naming the flag', (text, { expect }) => {
    expect(() => parseSimulatedGpus(text)).toThrow(/^--simulate-gpus has '/)
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
