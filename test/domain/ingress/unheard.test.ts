import { describe, expect, it } from 'vitest'
import {
  DECAY_BYTES_PER_SECOND,
  DECAY_OF_ACCOUNT_PER_SECOND,
  MAX_UNHEARD_BYTES,
  MAX_UNHEARD_OF_HOST_BYTES,
  SPARED_BYTES,
  Unheard,
} from '../../../src/domain/ingress/unheard.ts'
import { fairRoom } from '../../../src/host-protocol/fair-room.ts'

const NOW = Date.UTC(2026, 5, 1)
const HALF = MAX_UNHEARD_BYTES / 2
const ALONE = fairRoom(MAX_UNHEARD_OF_HOST_BYTES, 0)
const POD = { workloadId: 'pod', account: 'account' }

interface Client {
  name: string
}

const named = (count: number): Client[] => Array.from({ length: count }, (_, at) => ({ name: `client ${at}` }))

describe('bytes sent to WebSocket clients since their last message', () => {
  it('[NET-51] are bounded per client; a message of the client resets its count', () => {
    const unheard = new Unheard<Client>()
    const [one, other] = [{ name: 'one' }, { name: 'other' }]
    expect([HALF, HALF].map((bytes) => unheard.countSent(POD, one, bytes, NOW))).toEqual([null, null])
    unheard.hear(one)
    expect([HALF, HALF, 1].map((bytes) => unheard.countSent(POD, one, bytes, NOW))).toEqual([null, null, one])
    unheard.leave(one)
    expect(unheard.countSent(POD, other, HALF, NOW)).toBeNull()
  })

  it('[NET-51] are bounded per workload: the client with most is closed, and counts until it has left, whatever it sends', () => {
    const unheard = new Unheard<Client>()
    const [a, b, c] = named(3) as [Client, Client, Client]
    const room = fairRoom(ALONE, 0)
    for (const client of [a, b, c]) expect(unheard.countSent(POD, client, room / 3 - 1, NOW)).toBeNull()
    expect(unheard.countSent(POD, b, 3, NOW)).toBeNull()
    expect(unheard.countSent(POD, a, 1, NOW)).toBe(b)
    unheard.hear(b)
    expect(unheard.countSent(POD, a, 1, NOW)).toBe(a)
    expect(unheard.countSent(POD, c, 1, NOW)).toBe(c)
    expect([unheard.mayListen(POD, NOW), unheard.mayListen({ ...POD, workloadId: 'another' }, NOW)]).toEqual([false, true])
    expect(unheard.countSent({ ...POD, workloadId: 'another' }, { name: 'd' }, 2 ** 20, NOW)).toBeNull()
    for (const client of [a, b]) unheard.leave(client)
    expect(unheard.mayListen(POD, NOW)).toBe(true)
    expect(unheard.countSent(POD, { name: 'e' }, 2 ** 20, NOW)).toBeNull()
  })

  it('[SHR-43] are shared by account: many workloads have no more than one account, and a new account has a share', () => {
    const unheard = new Unheard<Client>()
    const victim = { workloadId: 'victim', account: 'other' }
    const [reader, late] = [{ name: 'reader' }, { name: 'late' }]
    expect(unheard.countSent(victim, reader, 2 ** 20, NOW)).toBeNull()
    // Clients that never read the close: the bytes sent to them stay in memory.
    let received = 0
    for (const [at, client] of named(1_000).entries()) {
      const listener = { workloadId: `pod ${at % 50}`, account: 'attacker' }
      let isOpen = unheard.mayListen(listener, NOW)
      while (isOpen) {
        received += 2 ** 18
        isOpen = unheard.countSent(listener, client, 2 ** 18, NOW) === null
      }
    }
    expect(received).toBeGreaterThan(16 * 2 ** 20)
    expect(received).toBeLessThan(MAX_UNHEARD_OF_HOST_BYTES / 2)
    expect(unheard.mayListen({ workloadId: 'pod 1000', account: 'attacker' }, NOW)).toBe(false)
    expect(unheard.mayListen(victim, NOW)).toBe(true)
    expect(unheard.countSent(victim, reader, 8 * 2 ** 20, NOW)).toBeNull()
    expect(unheard.countSent({ workloadId: 'new', account: 'newcomer' }, late, 2 ** 20, NOW)).toBeNull()
  })

  it('[SHR-43] close no client with few bytes for the sake of others', () => {
    const unheard = new Unheard<Client>()
    const [full, small] = [{ name: 'full' }, { name: 'small' }]
    expect(unheard.countSent(POD, full, MAX_UNHEARD_BYTES + 1, NOW)).toBe(full)
    for (const other of named(3)) unheard.countSent(POD, other, HALF, NOW)
    expect(unheard.countSent(POD, small, SPARED_BYTES, NOW)).not.toBe(small)
    for (let more = 0; more < 3; more += 1) expect(unheard.countSent(POD, small, 0, NOW)).not.toBe(small)
    expect(unheard.countSent(POD, small, 1, NOW)).toBe(small)
  })

  it('[NET-51] are forgotten gradually: a slow, silent reader stays open for hours', () => {
    const unheard = new Unheard<Client>()
    const one = { name: 'one' }
    const seconds = Array.from({ length: 3600 }, (_, second) => second)
    const slowly = seconds.map((second) => unheard.countSent(POD, one, DECAY_BYTES_PER_SECOND, NOW + second * 1000))
    expect(slowly.filter((gone) => gone !== null)).toEqual([])
    const twice = seconds.map((second) => unheard.countSent(POD, one, 2 * DECAY_BYTES_PER_SECOND, NOW + (3600 + second) * 1000))
    // A quarter of a MiB a second too much: 24 MiB have accumulated after 96 seconds.
    expect(twice.indexOf(one)).toBe(95)
  })

  it('[SHR-43] are forgotten no faster for many clients of one account than for four', () => {
    const unheard = new Unheard<Client>()
    const clients = named(64)
    const pace = (2 * DECAY_OF_ACCOUNT_PER_SECOND) / clients.length
    const gone = (second: number) =>
      clients.filter(
        (client, at) => unheard.countSent({ workloadId: `pod ${at}`, account: 'one' }, client, pace, NOW + second * 1000) !== null,
      )
    const first = Array.from({ length: 120 }, (_, second) => second).find((second) => gone(second).length > 0)
    // One MiB a second above the share of a single account: its last workloads have a small part of it.
    expect(first).toBe(ALONE / 2 ** 20 - 2)
  })

  it('[NET-51] are not kept for a client that has left, even if it sends something', () => {
    const unheard = new Unheard<Client>()
    const one = { name: 'one' }
    unheard.leave(one)
    unheard.hear(one)
    expect(unheard.countSent(POD, one, MAX_UNHEARD_BYTES, NOW)).toBeNull()
  })
})
