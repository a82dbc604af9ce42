import { test } from 'vitest'
import { findBridgeAddress } from '../../../src/host-agent/docker/bridge.ts'
import type { DockerEngine } from '../../../src/host-agent/engine/engine.ts'

test('the relay listens on the bridge gateway, stated or not, and on loopback where the engine lives in a virtual machine', async ({
  expect,
}) => {
  const engine = (gateway: string | undefined) =>
    ({ bridge: async () => ({ gateway, subnet: '172.17.0.0/16' }) }) as unknown as DockerEngine
  const own = async (address: string) => address === '172.17.0.1'
  expect(await findBridgeAddress(engine('172.17.0.1'), own)).toEqual({ listen: '172.17.0.1', advertise: '172.17.0.1' })
  expect(await findBridgeAddress(engine(undefined), own)).toEqual({ listen: '172.17.0.1', advertise: '172.17.0.1' })
  expect(await findBridgeAddress(engine('172.17.0.1'), async () => false)).toEqual({
    listen: '127.0.0.1',
    advertise: 'host.docker.internal',
  })
})
