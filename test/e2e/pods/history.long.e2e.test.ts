import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { BUILD_TIMEOUT_MS, busyboxImage } from '../support/agent/worker-image.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { callPlane, eventually } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'

// Usage of real containers, measured by a real agent, and the part that survives a restart of agent and plane.

const HOST = 'measured'
const WAIT_MS = 60_000

interface Metrics {
  series: { name: string; points: (number | null)[] }[]
}

describe('the history of pods', () => {
  let fleet: Fleet
  let image: string
  beforeAll(async () => {
    image = await busyboxImage()
    fleet = await Fleet.start({ hosts: { [HOST]: { simulateGpus: 'NVIDIA L4:2' } } })
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    await fleet.stop()
  })

  const read = async (id: string, name: string): Promise<number[]> => {
    const { plane } = fleet
    const { series } = await callPlane<Metrics>(plane, plane.apiKey, 'GET', `/v2/pods/${id}/metrics?step=60`)
    return (series.find((one) => one.name === name)?.points ?? []).filter((point) => point !== null)
  }
  const idleSince = async (id: string) => {
    const { plane } = fleet
    const pod = await callPlane<{ runtime: { idleSince?: string | null } | null }>(plane, plane.apiKey, 'GET', `/v2/pods/${id}`)
    return pod.runtime?.idleSince
  }

  test('[HIS-4][HIS-8][HIS-3] a busy loop shows CPU, an idle container its idle time; both survive agent and plane', async () => {
    const [busy, idle] = await Promise.all([
      TestPod.run(fleet.plane, podBody(image, 'while :; do :; done')),
      TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT)),
    ])
    await eventually('CPU of the busy pod', WAIT_MS, async () => Math.max(0, ...(await read(busy.id, 'cpu'))) >= 10)
    const since = await eventually('the idle pod says since when', WAIT_MS, async () => (await idleSince(idle.id)) ?? false)
    expect(Date.parse(since)).toBeGreaterThan(Date.now() - WAIT_MS)
    expect(await idleSince(busy.id)).toBeNull()
    expect(Math.max(...(await read(busy.id, 'memoryLimit')))).toBeGreaterThan(Math.max(...(await read(busy.id, 'memory'))))
    // By then the minute with that sample is stored (HIS-3).
    await eventually('a stored sample', 2 * WAIT_MS, async () => Date.now() - Date.parse(since) > 66_000)
    await fleet.agent(HOST).kill('SIGKILL')
    await fleet.plane.kill('SIGKILL')
    fleet.plane = await fleet.plane.restart()
    expect(Math.max(0, ...(await read(busy.id, 'cpu')))).toBeGreaterThanOrEqual(10)
    await fleet.startHost(HOST)
    const again = await eventually('the idle pod says since when again', WAIT_MS, async () => (await idleSince(idle.id)) ?? false)
    expect(Date.parse(again)).toBeGreaterThanOrEqual(Date.parse(since))
    expect(await idleSince(busy.id)).not.toEqual(expect.any(String))
    await Promise.all([busy, idle].map((pod) => pod.on(fleet.plane).terminate()))
  })
})
