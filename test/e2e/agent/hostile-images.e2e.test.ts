import { expect, test } from 'vitest'
import { HOSTILE_IMAGES } from '../../host-agent/support/hostile-images.ts'
import { waitUntil } from '../../support/time.ts'
import { freshPodAgents, IDLE, type PodAgent } from '../support/agent/pod-agent.ts'

let agent: PodAgent
freshPodAgents((fresh) => {
  agent = fresh
})

test('[HOST-66] [C2] invalid image names leave the agent unharmed, on a real engine', async () => {
  await agent.start()
  await waitUntil('the link', () => agent.plane.messages.length > 0, 60_000)
  const { pid } = agent
  const images = HOSTILE_IMAGES.map((image, index) => agent.workload(index + 10, IDLE, { image }))
  agent.plane.setDesired(...images, agent.workload(1, IDLE))
  await agent.reaches(1, 'running')
  for (const { id } of images) await waitUntil(`the refusal of ${id}`, () => agent.plane.last(id)?.state === 'error', 30_000)
  const reasons = images.map(({ id }) => agent.plane.last(id)?.reason)
  expect(reasons.filter((reason) => !/is not valid: want an image reference|image pull failed/.test(reason ?? ''))).toEqual([])
  expect([agent.pid, agent.plane.messages.filter(({ type }) => type === 'hello')]).toMatchObject([pid, { length: 1 }])
}, 180_000)
