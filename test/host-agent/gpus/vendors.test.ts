import { describe, test } from 'vitest'
import { GPU_MANUFACTURERS } from '../../../src/domain/catalog/catalog.ts'
import { GPU_VENDORS, gpuContainerConfig, offerGpus, readGpuUse, vendorsOf } from '../../../src/host-agent/gpus/vendors.ts'
import { fakeVendor } from '../support/fake-vendor.ts'

const device = (uuid: string) => ({ typeId: 'T', memoryMb: 1, driverVersion: '1', cudaVersion: null, uuid })
const use = { index: 0, util: 1, memoryUtil: 2 }

describe('GPU vendors', () => {
  test('have names of the catalog and ids that differ', ({ expect }) => {
    expect(GPU_VENDORS.filter(({ name }) => !(GPU_MANUFACTURERS as readonly string[]).includes(name))).toEqual([])
    const prefixes = GPU_VENDORS.map(({ idPrefix }) => idPrefix)
    expect(prefixes.filter((one) => prefixes.filter((other) => other.startsWith(one)).length > 1)).toEqual([])
  })

  test('[HOST-65] each selects its own GPUs in a container, or none', ({ expect }) => {
    const vendors = [...GPU_VENDORS, fakeVendor()]
    const request = { Driver: 'nvidia', DeviceIDs: ['GPU-1'], Capabilities: [['gpu']] }
    expect(gpuContainerConfig([], vendors)).toEqual({ env: { NVIDIA_VISIBLE_DEVICES: 'void', X_VISIBLE: '' }, hostConfig: {} })
    expect(gpuContainerConfig(['GPU-1'], vendors)).toEqual({
      env: { NVIDIA_VISIBLE_DEVICES: 'GPU-1', X_VISIBLE: '' },
      hostConfig: { DeviceRequests: [request] },
    })
    expect(gpuContainerConfig(['X-1', 'X-2'], vendors)).toEqual({
      env: { NVIDIA_VISIBLE_DEVICES: 'void', X_VISIBLE: 'X-1,X-2' },
      hostConfig: { GroupAdd: ['render'] },
    })
  })

  test('[HOST-90] an old toolkit of one costs the GPUs of another nothing, and only vendors with GPUs are judged', async ({ expect }) => {
    const good = fakeVendor()
    const old = fakeVendor({ idPrefix: 'Y-', judgeToolkit: async () => ({ offersGpus: false, missing: 'too old' }) })
    const options = { allowOldNvidiaToolkit: false }
    expect(await offerGpus([device('X-1'), device('Y-1')], options, [good, old])).toEqual({
      devices: [device('X-1')],
      missing: ['too old'],
    })
    expect(await offerGpus([device('X-1')], options, [good, old])).toEqual({ devices: [device('X-1')], missing: [] })
    expect(vendorsOf([device('Y-1')], [good, old])).toEqual([old])
  })

  test('[HOST-63] a driver that does not answer hides no GPU of another', async ({ expect }) => {
    const broken = fakeVendor({ use: async () => Promise.reject(new Error('driver')) })
    const good = fakeVendor({ use: async () => new Map([['Y-1', use]]) })
    expect(await readGpuUse([broken, good])).toEqual(new Map([['Y-1', use]]))
  })
})
