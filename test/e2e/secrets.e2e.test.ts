import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestEndpoint } from './support/endpoint.ts'
import { Fleet } from './support/fleet.ts'
import { LogFollower } from './support/log-follower.ts'
import { callPlane, eventually } from './support/plane.ts'
import { podBody, TestPod } from './support/pods.ts'
import { BUILD_TIMEOUT_MS, busyboxImage } from './support/worker-image.ts'

// Secrets as a container sees them, over the public API alone.

const PRINT_AND_STAY = 'echo "db=$DB none=<$NONE>"; while :; do busybox sleep 1; done'
const WAIT_MS = 60_000

let fleet: Fleet
let image: string
beforeAll(async () => {
  image = await busyboxImage()
  fleet = await Fleet.start({ hosts: { only: { simulateGpus: 'NVIDIA L4:4' } } })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await fleet?.stop()
})

const call = <Reply>(method: string, path: string, body?: object) => callPlane<Reply>(fleet.plane, fleet.plane.apiKey, method, path, body)
const workloads = () => readdirSync(join(fleet.agent('only').stateDir, 'workloads')).map((name) => name.replace('.json', ''))

test('[ACC-6] a pod and a worker see the value of their boot; a rotation reaches the next one alone', async () => {
  const { id } = await call<{ id: string }>('POST', '/v2/account/secrets', { name: 'DB', value: 'first value: "ü"' })
  const env = { DB: '{{ RUNPOD_SECRET_DB }}', NONE: '{{RUNPOD_SECRET_NONE}}' }
  const pod = await TestPod.run(fleet.plane, podBody(image, PRINT_AND_STAY, { env }))
  const log = pod.log()
  await log.waitFor((lines) => lines.includes('db=first value: "ü" none=<>'))
  const endpoint = await TestEndpoint.create(fleet.plane, 'secrets', {
    image,
    cmd: ['/bin/sh', '-c', PRINT_AND_STAY],
    env,
    workers: { max: 1 },
  })
  const known = workloads()
  await endpoint.run({})
  const workerId = await eventually('the worker', WAIT_MS, async () => workloads().find((name) => !known.includes(name)))
  const workerLog = LogFollower.open(fleet.plane, endpoint.id, workerId)
  await workerLog.waitFor((lines) => lines.includes('db=first value: "ü" none=<>'))
  const first = await pod.container()

  await call('PATCH', `/v2/account/secrets/${id}`, { value: 'second' })
  expect((await pod.get()).env).toEqual(env)
  expect((await pod.container()).Id).toBe(first.Id)
  await pod.act('restart')
  await log.waitFor((lines) => lines.includes('db=second none=<>'))
  expect((await pod.container()).Id).not.toBe(first.Id)
  expect(log.lines().filter((line) => line.startsWith('env names secrets'))).toHaveLength(2)
  // What the worker printed is all that it ever printed: it was not started anew.
  expect(workerLog.lines().filter((line) => line.startsWith('db='))).toEqual(['db=first value: "ü" none=<>'])
  log.close()
  workerLog.close()
  await Promise.all([pod.terminate(), endpoint.remove()])
})
