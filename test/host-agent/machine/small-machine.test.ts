import { tmpdir } from 'node:os'
import { test, vi } from 'vitest'
import { readMachine } from '../../../src/host-agent/machine/inventory.ts'

vi.mock('node:os', async (original) => ({ ...(await original<object>()), cpus: () => [{}], totalmem: () => 2 ** 30 }))

test('[HOST-6] a machine of one core and one gigabyte offers the smallest size sold', ({ expect }) => {
  expect(readMachine(tmpdir())).toMatchObject({ vcpus: 2, memoryMb: 4096 })
})
