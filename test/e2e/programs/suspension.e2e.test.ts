import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { handlerBegun } from '../support/agent/handler.ts'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { BUILD_TIMEOUT_MS, busyboxImage, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { docker, findContainer } from '../support/machines/docker.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { eventually } from '../support/plane/plane.ts'
import { GPU_TYPE, podBody, TestPod } from '../support/plane/pods.ts'

// An operator suspends an account that has a pod and a worker at work, in real containers, and resumes it.

const USER = 'demo@podplane.local'
const GPUS = 4
const HOST = 'host'
/** DER-40. */
const ENDS_WITHIN_MS = 60_000
/** Longer than the test: only the suspension ends the job. */
const JOB_SECONDS = 600

let fleet: Fleet
let images: { pod: string; worker: string }

beforeAll(async () => {
  images = { pod: await busyboxImage(), worker: await pythonWorkerImage() }
  fleet = await Fleet.start({ hosts: { [HOST]: { simulateGpus: `${GPU_TYPE}:${GPUS}` } } })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await fleet?.stop()
})

test("[M10][DER-40] a suspended account's containers end within a minute; resumed, its pod runs and its job continues", async () => {
  const { plane } = fleet
  const pod = await TestPod.run(plane, podBody(images.pod, STAY_SCRIPT))
  const cmd = ['python3', '-u', '/handlers/plain.py']
  const endpoint = await TestEndpoint.create(plane, 'suspended', { image: images.worker, cmd, workers: { max: 1, idleTimeout: 60 } })
  const job = await endpoint.run({ do: 'sleep', seconds: JOB_SECONDS })
  const worker = await handlerBegun(endpoint, job)
  const [container] = await pod.containers()

  await operate('suspend')
  await Promise.all([
    pod.isDown(),
    eventually('the worker has no container that runs', ENDS_WITHIN_MS, async () => !(await isRunning(worker))),
  ])
  await expect(pod.get()).rejects.toThrow(/suspended/)
  await expect(endpoint.status(job)).rejects.toThrow(/403 .*suspended/)
  await fleet.hasFreeGpus(HOST, GPU_TYPE, GPUS)

  await operate('resume')
  const view = await pod.reaches('RUNNING')
  expect(view.statusReason).toBeNull()
  const again = await pod.container()
  expect([again.State.Status, again.Id === container?.Id]).toEqual(['running', false])
  const next = await handlerBegun(endpoint, job)
  expect(next).not.toBe(worker)
  expect((await endpoint.status(job)).retries ?? 0).toBe(0)
  await endpoint.cancel(job)
  await endpoint.remove()
  await pod.terminate()
  await fleet.hasFreeGpus(HOST, GPU_TYPE, GPUS)
}, 180_000)

/** Runs the command of an operator. */
async function operate(verb: 'suspend' | 'resume'): Promise<void> {
  const { url, operatorKey } = fleet.plane
  const args = ['src/cli/admin.ts', '--url', url, 'users', verb, USER]
  await promisify(execFile)(process.execPath, args, { cwd: PROJECT_ROOT, env: { ...process.env, PODPLANE_OPERATOR_KEY: operatorKey } })
}

async function isRunning(workerId: string): Promise<boolean> {
  const container = await findContainer(workerId)
  if (container === undefined) return false
  return (await docker('inspect', '--format', '{{.State.Running}}', container).catch(() => 'false')) === 'true'
}
