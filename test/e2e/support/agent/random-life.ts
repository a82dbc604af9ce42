import { realTime } from '../../../support/time.ts'
import type { TestPod } from '../plane/pods.ts'

/** A time for which a pod ran: from its container's own start to the acknowledged request of its end. Milliseconds. */
export interface Run {
  startedAtMs: number
  endFromMs: number
  endToMs: number
  endedBy: string
}

const PAUSE_MAX_MS = 4_000
const ENDINGS = ['stop', 'restart', 'patch', 'exit'] as const

/** Runs random actions on a pod until `untilMs`, terminates it, and returns every time for which it ran. */
export async function liveRandomly(pod: TestPod, untilMs: number, random: () => number): Promise<Run[]> {
  const runs: Run[] = []
  while (Date.now() < untilMs) {
    const startedAtMs = await startOf(pod)
    await realTime(random() * PAUSE_MAX_MS, 'what is charged is the time between actions')
    const endedBy = ENDINGS[Math.floor(random() * ENDINGS.length)] ?? 'stop'
    const endFromMs = Date.now()
    const endToMs = await END[endedBy](pod)
    runs.push({ startedAtMs, endFromMs, endToMs, endedBy })
    if (endedBy === 'restart' || endedBy === 'patch') continue
    await pod.isDown()
    await realTime(random() * PAUSE_MAX_MS, 'what is charged is the time between actions')
    await pod.act('start')
  }
  const startedAtMs = await startOf(pod)
  const endFromMs = Date.now()
  const endToMs = await acknowledged(pod.act('terminate'))
  await pod.isGone()
  return [...runs, { startedAtMs, endFromMs, endToMs, endedBy: 'terminate' }]
}

/** Each way to end a run; returns the latest time of its end. */
const END: Readonly<Record<(typeof ENDINGS)[number], (pod: TestPod) => Promise<number>>> = {
  stop: (pod) => acknowledged(pod.act('stop')),
  restart: (pod) => acknowledged(pod.act('restart')),
  patch: (pod) => acknowledged(pod.patch({ env: { CHANGED: String(Date.now()) } })),
  async exit(pod) {
    await pod.endProgram()
    await pod.reaches('EXITED')
    return Date.parse((await pod.container()).State.FinishedAt)
  },
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32), so that a failure can be repeated. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function startOf(pod: TestPod): Promise<number> {
  await pod.reaches('RUNNING')
  return Date.parse((await pod.container()).State.StartedAt)
}

async function acknowledged(call: Promise<unknown>): Promise<number> {
  await call
  return Date.now()
}
