import { describe, test } from 'vitest'
import { trafficOf } from '../../../src/host-agent/docker/engine/usage.ts'
import { createMachineReader, parseDisks, parseNetworks } from '../../../src/host-agent/machine/utilisation.ts'

const NET = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0
  eth0: 1000 5 0 0 0 0 0 0 70 6 0 0 0 0 0 0
 vethab: 5000 5 0 0 0 0 0 0 5000 6 0 0 0 0 0 0
  eno1:2000 5 0 0 0 0 0 0 30 6 0 0 0 0 0 0`
const DISKS = `   8       0 sda 100 0 10 5 200 0 20 5 0 0 0
   8       1 sda1 100 0 10 5 200 0 20 5 0 0 0
 259       0 nvme0n1 1 0 4 5 2 0 6 5 0 0 0
   7       0 loop0 9 0 90 5 2 0 60 5 0 0 0`

describe('the utilisation of a machine', () => {
  test('[HIS-10] traffic is that of its own interfaces and whole disks', ({ expect }) => {
    expect(parseNetworks(NET)).toEqual({ received: 3_000, sent: 100 })
    expect(parseDisks(DISKS)).toEqual({ read: 14 * 512, written: 26 * 512 })
    expect([parseNetworks(undefined), parseDisks(undefined)]).toEqual([{}, {}])
  })

  test('[HIS-10] a reading holds what a beat may carry', ({ expect }) => {
    const clock = { nowMs: 0 }
    const read = createMachineReader('/', () => clock.nowMs)
    clock.nowMs = 5_000
    const { memoryBytes = 0, memoryLimitBytes = 0, diskBytes = 0, diskLimitBytes = 0 } = read()
    expect(memoryBytes).toBeGreaterThan(0)
    expect(memoryBytes).toBeLessThan(memoryLimitBytes)
    expect(diskBytes).toBeLessThanOrEqual(diskLimitBytes)
    expect(createMachineReader('/nowhere/at/all', () => 0)()).not.toHaveProperty('diskBytes')
  })

  test('[HIS-10] a container has the traffic of all its networks, by either version of control groups', ({ expect }) => {
    const networks = { eth0: { rx_bytes: 5, tx_bytes: 1 }, ens1: { rx_bytes: 7, tx_bytes: 2 } }
    const moved = [
      { op: 'read', value: 3 },
      { op: 'Write', value: 4 },
      { op: 'write', value: 5 },
      { op: 'Total', value: 99 },
    ]
    expect(trafficOf({ networks, blkio_stats: { io_service_bytes_recursive: moved } })).toEqual({
      received: 12,
      sent: 3,
      read: 3,
      written: 9,
    })
    expect(trafficOf({ blkio_stats: { io_service_bytes_recursive: null } })).toEqual({})
  })
})
