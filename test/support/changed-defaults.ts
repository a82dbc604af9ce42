import { vi } from 'vitest'
import * as DEFAULTS from '../../src/contract/defaults.ts'

const MODULE = '../../src/contract/defaults.ts'
const CHANGED = {
  ...DEFAULTS,
  POD_DEFAULTS: { cloud: 'COMMUNITY', onHostLoss: 'REPLACE', gpuCount: 3, globalNetworking: true },
  ENDPOINT_DEFAULTS: {
    ...DEFAULTS.ENDPOINT_DEFAULTS,
    gpuCount: 2,
    workers: { min: 1, max: 9, idleTimeout: 77 },
    scaling: { type: 'QUEUE_DELAY', queueDelay: 13 },
    balancerScaling: { type: 'REQUEST_COUNT', requestCount: 14 },
  },
  TEMPLATE_DEFAULTS: { ...DEFAULTS.TEMPLATE_DEFAULTS, startJupyter: false },
  JOIN_DEFAULTS: { cloud: 'COMMUNITY' },
  PROPOSED: { vcpuCount: 6, mountPath: '/data', startSsh: false },
}

/** Loads modules anew, which then import the changed defaults. */
export async function changed<Module>(load: () => Promise<Module>): Promise<Module> {
  vi.resetModules()
  vi.doMock(MODULE, () => CHANGED)
  return await load()
}

/** Gives later imports the present defaults again. */
export function unchanged(): void {
  vi.doUnmock(MODULE)
  vi.resetModules()
}
