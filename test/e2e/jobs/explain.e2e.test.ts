import { afterAll, beforeAll, test } from 'vitest'
import type { EndpointExplanation } from '../../../src/contract/explain/explain.ts'
import type { ExplainReply } from '../../../src/contract/jobs/explain.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { callPlane, eventually, hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'

let plane: TestPlane
beforeAll(async () => {
  plane = await startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] })
  await hostIsOnline(plane)
})
afterAll(() => plane?.stop())

test('[WHY-3] [WHY-11] out of capacity: the explanation names a call, the call is sent unchanged, and the job runs', async ({ expect }) => {
  const call = <T>(method: string, path: string, body?: unknown) => callPlane<T>(plane, plane.apiKey, method, path, body)
  const body = { name: 'why', image: 'builtin/echo', disk: 1, gpu: { pools: ['HOPPER_141'] }, workers: { min: 0, max: 1 } }
  const { id } = await call<{ id: string }>('POST', '/v2/serverless', body)
  const endpoint = new TestEndpoint(plane, id)
  const job = await endpoint.run({ to: 'anybody' })
  const received = await eventually('a job without capacity', 20_000, async () => {
    const reply = await call<ExplainReply>('GET', `/v2/${id}/explain/${job}`)
    return reply.code === 'NO_CAPACITY' && reply
  })
  expect(received.evidence).toContainEqual({ kind: 'CONSTRAINT', text: 'needs 1 free NVIDIA H200', count: 1, total: 1, at: null })
  const waiting = await callPlane<{ waiting: { endpointId: string }[] }>(plane, plane.operatorKey, 'GET', '/admin/v1/waiting')
  expect(waiting.waiting.map(({ endpointId }) => endpointId)).toEqual([id])
  const [option] = received.options
  expect(option).toMatchObject({ kind: 'GPU_TYPE', summary: 'allow GPUs of AMPERE_24 too', who: 'YOU' })
  await call(option?.call?.method ?? '', option?.call?.path ?? '', option?.call?.body)
  expect(await endpoint.finished(job)).toMatchObject({ status: 'COMPLETED', output: { to: 'anybody' } })
  const after = await call<EndpointExplanation>('GET', `/v2/serverless/${id}/explain`)
  expect(['IDLE', 'RUNNING']).toContain(after.code)
})

test('[WHY-14] a pod that holds the only GPU: the explanation offers to stop it, the call is sent, and the job runs', async ({
  expect,
}) => {
  const call = <T>(method: string, path: string, body?: unknown) => callPlane<T>(plane, plane.apiKey, method, path, body)
  const pod = { name: 'box', image: 'builtin/idle', disk: 1, gpu: { id: 'NVIDIA L4' } }
  // The worker of the previous test ends first.
  const { id: podId } = await eventually('a pod on the only GPU', 20_000, () =>
    call<{ id: string }>('POST', '/v2/pods', pod).catch(() => undefined),
  )
  await eventually('the pod runs', 20_000, async () => (await call<{ status: string }>('GET', `/v2/pods/${podId}`)).status === 'RUNNING')
  const body = { name: 'stop', image: 'builtin/echo', disk: 1, gpu: { pools: ['AMPERE_24'] }, workers: { min: 0, max: 1 } }
  const { id } = await call<{ id: string }>('POST', '/v2/serverless', body)
  const endpoint = new TestEndpoint(plane, id)
  const job = await endpoint.run({ to: 'whoever stops' })
  const stop = await eventually('an option to stop the pod', 20_000, async () => {
    const reply = await call<ExplainReply>('GET', `/v2/${id}/explain/${job}`)
    return reply.options.find(({ kind }) => kind === 'STOP')
  })
  expect(stop).toMatchObject({ summary: 'stop your pod box', call: { method: 'POST', path: `/v2/pods/${podId}/action` } })
  await call(stop.call?.method ?? '', stop.call?.path ?? '', stop.call?.body)
  expect(await endpoint.finished(job)).toMatchObject({ status: 'COMPLETED', output: { to: 'whoever stops' } })
})
