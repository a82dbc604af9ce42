import { describe, test } from 'vitest'
import { chooseGpus } from '../../../src/host-agent/gpus/allocation.ts'

describe('GPU allocation', () => {
  const [first, second] = ['GPU-1', 'GPU-2']
  const device = (typeId: string, uuid: string) => ({ typeId, memoryMb: 24_564, driverVersion: '550.90.07', cudaVersion: null, uuid })
  const devices = [device('NVIDIA GeForce RTX 4090', first), device('NVIDIA GeForce RTX 4090', second), device('NVIDIA L4', 'GPU-3')]
  const gpus = { devices, simulatedTypes: new Set(['NVIDIA B200']) }

  test('gives free devices of the type, and none twice', ({ expect }) => {
    expect(chooseGpus(gpus, new Set(), { typeId: 'NVIDIA GeForce RTX 4090', count: 2 })).toEqual([first, second])
    expect(chooseGpus(gpus, new Set([first]), { typeId: 'NVIDIA GeForce RTX 4090', count: 1 })).toEqual([second])
    expect(chooseGpus(gpus, new Set([first]), { typeId: 'NVIDIA GeForce RTX 4090', count: 2 })).toBeUndefined()
  })

  test('gives no device for a simulated type or for no GPU', ({ expect }) => {
    expect(chooseGpus(gpus, new Set(), { typeId: 'NVIDIA B200', count: 8 })).toEqual([])
    expect(chooseGpus(gpus, new Set(), null)).toEqual([])
  })
})
