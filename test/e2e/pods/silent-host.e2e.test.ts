import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'
import { GPU_TYPE, TestPod } from '../support/plane/pods.ts'
import { readUsage } from '../support/plane/usage.ts'

// The agent of a pod's host is killed: the pod shows that soon, and when the agent is back its start time is unchanged.

const SAID_WITHIN_MS = 15_000
/** Time between two heartbeats of a host, and a margin. */
const BEAT_MAX_MS = 8_000
const BACK_WITHIN_MS = 30_000
const POLL_MS = 250
const HOST = { name: 'quiet', runtime: 'process', simulateGpus: `${GPU_TYPE}:1`, onExit: 'keep' } as const

let plane: TestPlane
let agent: TestAgent
let again: TestAgent | undefined

beforeAll(async () => {
  plane = await startPlane({ args: ['--no-agent'] })
  agent = await startAgent({ ...HOST, plane })
})
afterAll(async () => {
  await again?.stop()
  await agent?.stop()
  await plane?.stop()
})

test("[POD-23, POD-72, POD-73] a silent host is shown within 15 s and not charged; when it is back the pod's start is that of its container", async () => {
  const pod = await TestPod.run(plane, { name: 'quiet', image: 'builtin/idle', gpu: { id: GPU_TYPE, count: 1 } })
  const { startedAt } = await pod.get()
  // Ensures a heartbeat since the start of the pod.
  await eventually(
    'the pod has run for a while',
    BACK_WITHIN_MS,
    async () => ((await pod.get()).runtime?.uptime ?? 0) * 1000 >= BEAT_MAX_MS,
  )

  await agent.kill('SIGKILL')
  const silentFromMs = Date.now()
  const silent = await eventually(
    'the pod says that its host is silent',
    SAID_WITHIN_MS,
    async () => {
      const view = await pod.get()
      return view.statusReason !== null && view
    },
    POLL_MS,
  )
  expect(silent.statusReason).toMatch(/^its host has been silent since .*Z; nothing is charged until it reconnects$/)
  expect(silent).toMatchObject({ status: 'RUNNING', runtime: null, cost: 0, startedAt })
  expect(readUsage(plane, pod.id)).toEqual([])

  const returnedAtMs = Date.now()
  again = await startAgent({ ...HOST, plane, stateDir: agent.stateDir })
  const back = await eventually(
    'the pod goes on',
    BACK_WITHIN_MS,
    async () => {
      const view = await pod.get()
      return view.runtime !== null && view
    },
    POLL_MS,
  )
  expect(back).toMatchObject({ status: 'RUNNING', statusReason: null, startedAt })
  expect(back.runtime?.uptime).toBeGreaterThanOrEqual(Math.floor((returnedAtMs - Date.parse(startedAt ?? '')) / 1000))

  await pod.act('stop')
  const [before, after, ...others] = readUsage(plane, pod.id)
  expect(others).toEqual([])
  expect(before?.endedAt).toBeLessThanOrEqual(silentFromMs)
  expect(before?.endedAt).toBeGreaterThanOrEqual(silentFromMs - BEAT_MAX_MS)
  expect(after?.startedAt).toBeGreaterThanOrEqual(returnedAtMs)
}, 120_000)
