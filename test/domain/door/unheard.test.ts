import { describe, expect, it } from 'vitest'
import { FORGOTTEN_BYTES_PER_SECOND, MAX_UNHEARD_BYTES, MAX_UNHEARD_OF_WORKLOAD_BYTES, Unheard } from '../../../src/domain/door/unheard.ts'

const NOW = Date.UTC(2026, 5, 1)
const HALF = MAX_UNHEARD_BYTES / 2

describe('what clients of WebSockets were told since they said anything', () => {
  it('[NET-51] is bounded for each; a word of it begins anew', () => {
    const unheard = new Unheard<{ name: string }>()
    const [one, other] = [{ name: 'one' }, { name: 'other' }]
    expect([HALF, HALF].map((bytes) => unheard.tell('pod', one, bytes, NOW))).toEqual([null, null])
    unheard.hear('pod', one)
    expect([HALF, HALF, 1].map((bytes) => unheard.tell('pod', one, bytes, NOW))).toEqual([null, null, one])
    expect(unheard.tell('pod', other, HALF, NOW)).toBeNull()
  })

  it('[NET-51] is bounded for all of a workload: who was told most goes, and counts until it has left; another workload has its own', () => {
    const unheard = new Unheard<{ name: string }>()
    const clients = Array.from({ length: 5 }, (_, number) => ({ name: `client ${number}` }))
    for (const client of clients) unheard.tell('pod', client, MAX_UNHEARD_OF_WORKLOAD_BYTES / 5 - 1, NOW)
    expect(unheard.tell('pod', clients[1] as { name: string }, 3, NOW)).toBeNull()
    expect(unheard.tell('pod', clients[2] as { name: string }, 5, NOW)).toBe(clients[2])
    expect(unheard.tell('pod', clients[0] as { name: string }, 1, NOW)).toBe(clients[2])
    expect(unheard.tell('another', clients[0] as { name: string }, 1, NOW)).toBeNull()
    unheard.leave('pod', clients[2] as { name: string })
    expect(unheard.tell('pod', clients[0] as { name: string }, 1, NOW)).toBeNull()
  })

  it('[NET-51] is forgotten little by little: who is only shown something slowly may say nothing for hours', () => {
    const unheard = new Unheard<{ name: string }>()
    const one = { name: 'one' }
    const seconds = Array.from({ length: 3600 }, (_, second) => second)
    const slowly = seconds.map((second) => unheard.tell('pod', one, FORGOTTEN_BYTES_PER_SECOND, NOW + second * 1000))
    expect(slowly.filter((gone) => gone !== null)).toEqual([])
    const twice = seconds.map((second) => unheard.tell('pod', one, 2 * FORGOTTEN_BYTES_PER_SECOND, NOW + (3600 + second) * 1000))
    // A quarter of a MiB a second too much: 32 MiB of it are there after 128 seconds.
    expect(twice.indexOf(one)).toBe(127)
  })

  it('[NET-51] a client that has left is not remembered by what it says', () => {
    const unheard = new Unheard<{ name: string }>()
    const one = { name: 'one' }
    unheard.leave('pod', one)
    unheard.hear('pod', one)
    expect(unheard.tell('pod', one, MAX_UNHEARD_BYTES, NOW)).toBeNull()
  })
})
