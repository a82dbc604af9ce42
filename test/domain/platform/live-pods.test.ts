import { vi } from 'vitest'
import type { PodRow } from '../../../src/db/pods/pods.ts'
import type { Env } from '../../../src/env.ts'
import { Owned } from '../../../src/objects/owned.ts'
import { readLivePods } from '../../../src/services/pods/live-pods.ts'
import { afterEach, beforeEach, expect, it } from '../../support/unit.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Pods on as many hosts, whose objects do not answer, with the few columns and bindings that are read; `asked` holds the hosts asked. */
function scene(count: number) {
  const asked: string[] = []
  const HOST = {
    idFromName: (name: string) => name,
    get: (name: string) => ({
      readPods: () => {
        asked.push(name)
        return new Promise(() => {})
      },
    }),
  }
  const pods = Array.from({ length: count }, (_, at) => {
    const row = { id: `pod${at}`, hostId: `host${at}`, generation: 1, hostLost: false, status: 'RUNNING' }
    return Owned.prove('pod', row.id, row as unknown as PodRow)
  })
  return { asked, pods, env: { HOST } as unknown as Env }
}

it('[RATE-33] a list asks at most 32 hosts at a time, and hosts that do not answer delay it by 3 s at most, however many they are', async () => {
  const { asked, pods, env } = scene(500)
  let found = 0
  const reading = readLivePods(env, pods).then(({ size }) => {
    found = size
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toHaveLength(32)
  await vi.advanceTimersByTimeAsync(2_999)
  expect([asked.length, found]).toEqual([96, 0])
  await vi.advanceTimersByTimeAsync(1)
  await reading
  expect([asked.length, found]).toEqual([96, 96])
})
