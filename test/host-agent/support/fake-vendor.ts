import type { GpuVendor } from '../../../src/host-agent/gpus/vendor.ts'

/** A vendor of GPUs with ids such as `X-1`, without any on this machine. */
export const fakeVendor = (change: Partial<GpuVendor> = {}): GpuVendor => ({
  name: 'X',
  tool: 'x-smi',
  idPrefix: 'X-',
  detect: async () => [],
  judgeToolkit: async () => ({ offersGpus: true, missing: null }),
  use: async () => new Map(),
  health: () => ({ read: async () => [], findErrors: () => [] }),
  containerConfig: (uuids) => ({
    env: { X_VISIBLE: uuids.join(',') },
    hostConfig: uuids.length > 0 ? { GroupAdd: ['render'] } : {},
  }),
  ...change,
})
