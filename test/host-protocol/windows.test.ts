import fc from 'fast-check'
import type { WantedTarget } from '../../src/host-protocol/tunnel/frames.ts'
import type { TunnelStream } from '../../src/host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../../src/host-protocol/tunnel/tunnel-end.ts'
import {
  LARGE_WINDOW_BYTES,
  MAX_STREAMS,
  mayOpen,
  type Opener,
  RESERVED_FOR_NEWCOMERS,
  RESERVED_FOR_TERMINALS,
  type Share,
  Windows,
} from '../../src/host-protocol/tunnel/windows.ts'
import { describe, expect, it } from '../support/unit.ts'

const SHARED = MAX_STREAMS - RESERVED_FOR_NEWCOMERS - RESERVED_FOR_TERMINALS

const share = (streams: number, terminals = 0): Share => ({ streams, terminals, large: 0 })
/** The streams of one account, spread over as many workloads as it takes. */
const opener = (account: string, number: number, isTerminal = false): Opener => ({
  workloadId: `${account}-${Math.floor(number / 128)}`,
  account,
  isTerminal,
})

function fill(windows: Windows, account: string, wanted: number): number {
  return Array.from({ length: wanted }, (_, number) => windows.open(opener(account, number))).filter((size) => size !== null).length
}

describe('streams of a tunnel, by account', () => {
  it('[S16] [SHR-30] an account has as many as it leaves to others: one below, at and above each bound', () => {
    const alone = (SHARED * 3) / 4
    expect([alone - 1, alone, alone + 1].map((own) => mayOpen(share(own), share(own), false))).toEqual([true, false, false])
    const half = (SHARED - 96) / 2
    expect([half - 1, half, half + 1].map((own) => mayOpen(share(own), share(own + 96), false))).toEqual([true, false, false])
    const beforeTerminals = MAX_STREAMS - RESERVED_FOR_TERMINALS
    expect([beforeTerminals - 1, beforeTerminals].map((all) => mayOpen(share(0), share(all), false))).toEqual([true, false])
    expect([MAX_STREAMS - 1, MAX_STREAMS].map((all) => mayOpen(share(0), share(all), true))).toEqual([true, false])
    expect([0, 1].map((own) => mayOpen(share(20, own), share(MAX_STREAMS - 1, own), true))).toEqual([true, false])
  })

  it('[S16] [SHR-30] eight workloads of one account take three quarters, and the next one finds room, a terminal too', () => {
    const windows = new Windows()
    expect(fill(windows, 'b', 1_024)).toBe((SHARED * 3) / 4)
    expect(fill(windows, 'a', 1_024)).toBe(SHARED / 8)
    expect([windows.open(opener('a', 0, true)), windows.open(opener('a', 0, true))].map((size) => size !== null)).toEqual([true, false])
    // The first of the others is above its half and keeps the streams that it has.
    expect([windows.streamsOfAccount('b'), windows.open(opener('b', 0))]).toEqual([(SHARED * 3) / 4, null])
  })

  it('[SHR-30] however many accounts take all that they may, a newcomer has a stream and a terminal, until so many have come', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), (accounts) => {
        const windows = new Windows()
        for (let number = 0; number < accounts; number += 1) fill(windows, `greedy ${number}`, 1_024)
        expect([windows.open(opener('late', 0)), windows.open(opener('late', 0, true))].includes(null)).toBe(false)
      }),
      { numRuns: 20 },
    )
  })

  it('[SHR-31] large windows are shared by account too, at either end', () => {
    for (const take of ['open', 'answer'] as const) {
      const windows = new Windows()
      const isLarge = (account: string) => (_: unknown, number: number) =>
        windows[take]({ workloadId: `${account}-${Math.floor(number / 24)}`, account, isTerminal: false }) === LARGE_WINDOW_BYTES
      const count = (account: string) => Array.from({ length: 200 }, isLarge(account)).filter(Boolean).length
      expect([count('b'), count('a')]).toEqual([72, 12])
    }
  })

  it('[SHR-31] an end refuses no stream that the other end may open', () => {
    const refused: unknown[] = []
    const agent: TunnelEnd = new TunnelEnd({ send: (message) => refused.push(message), onOpen: () => undefined })
    const plane = new TunnelEnd({ send: (message) => agent.receive(message) })
    for (const account of ['b', 'a', 'c'])
      for (let number = 0; number < 1_024; number += 1) plane.open(target(`${account}-${number >> 7}`), account)
    expect([refused, agent.size]).toEqual([[], plane.size])
    expect(plane.size).toBeGreaterThan(800)
  })
})

const target = (workloadId: string, kind: 'http' | 'websocket' = 'http'): WantedTarget => ({
  kind,
  workloadId,
  port: 80,
  method: 'GET',
  path: '/',
  headers: [],
})

describe('a request that is silent', () => {
  let nowMs = 0
  const make = () => {
    const ended: string[] = []
    const end = new TunnelEnd({ send: () => undefined, now: () => nowMs })
    const open = (name: string, atMs: number, ...[workload, kind]: Parameters<typeof target>): TunnelStream | null => {
      nowMs = atMs
      const stream = end.open(target(workload, kind), workload.slice(0, 1))
      void stream?.accepted.catch((error: Error) => ended.push(`${name}: ${error.message}`))
      return stream
    }
    return { end, open, ended }
  }

  it('[SHR-33] loses its place after the time, the most silent of that account or workload first; a WebSocket never does', async () => {
    const { end, open, ended } = make()
    open('socket', 0, 'a1', 'websocket')
    open('of another account', 1, 'b1')
    open('first', 2, 'a1')
    open('second', 3, 'a2')
    nowMs = 1_001
    expect(end.preempt({ account: 'a' }, 1_000)).toBe(false)
    nowMs = 1_002
    expect([end.preempt({ account: 'a' }, 1_000), end.preempt({ account: 'a' }, 1_000)]).toEqual([true, false])
    nowMs = 1_003
    expect([end.preempt({ workloadId: 'a1' }, 1_000), end.preempt({ workloadId: 'a2' }, 1_000)]).toEqual([false, true])
    await Promise.resolve()
    const why = 'it was silent for a minute, and a newer request of the same account had no other place on this host'
    expect(ended).toEqual([`first: ${why}`, `second: ${why}`])
    expect(end.size).toBe(2)
  })

  it('[SHR-33] neither sends nor receives anything', async () => {
    const { end, open } = make()
    const [received, heard] = [open('told', 0, 'a1'), open('heard', 0, 'a1')]
    for (const stream of [received, heard]) stream?.receive({ type: 'accept', stream: stream.id, window: 1_024 })
    nowMs = 500
    await received?.write(new Uint8Array(1))
    end.receive(new Uint8Array([3, 0, 0, 0, heard?.id ?? 0, ...new TextEncoder().encode('{"status":200,"headers":[]}')]))
    nowMs = 1_499
    expect(end.preempt({ account: 'a' }, 1_000)).toBe(false)
    nowMs = 1_500
    expect(end.preempt({ account: 'a' }, 1_000)).toBe(true)
  })
})
