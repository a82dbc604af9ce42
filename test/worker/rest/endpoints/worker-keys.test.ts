import { JOB_ROUTES } from '../../../../src/contract/jobs/job-routes.ts'
import { WORKER_KEY_ACTIONS } from '../../../../src/domain/access.ts'
import { issueWorkerToken, ownByWorkerToken } from '../../../../src/effects/workers/worker-token.ts'
import { parseRelayRoute } from '../../../../src/host-agent/relay/routes.ts'
import { adminDocument } from '../../../../src/http/admin-api.ts'
import { consoleDocument } from '../../../../src/http/console/console-api.ts'
import { executableSchema } from '../../../../src/http/graphql/server.ts'
import { hostApi } from '../../../../src/http/host-api.ts'
import { sshApi } from '../../../../src/http/ssh-api.ts'
import { V1_ROUTES } from '../../../../src/http/v1/v1-api.ts'
import { DOCUMENTED, documentedIn, OF_WORKERS, type Operation } from '../../../support/access/operations.ts'
import { settledState } from '../../../support/access/whole-state.ts'
import { api, createEndpoint, describe, env, expect, it, send } from '../../../support/harness.ts'
import { graphql } from '../../../support/http/graphql.ts'
import { v1 } from '../../../support/http/v1.ts'
import { runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

/** Operations of the console that start a login of a caller without a key and read no key. */
const FOR_ANYONE: readonly string[] = ['startDeviceLogin', 'pollDeviceLogin']

/** Calls with the key, raw and as a bearer token, and returns the statuses. */
async function statuses(token: string, { method, body }: Operation, path: string): Promise<number[]> {
  const found: number[] = []
  for (const authorization of [token, `Bearer ${token}`]) {
    const type = body && { 'Content-Type': 'application/json' }
    const init = {
      method: method.toUpperCase(),
      headers: { Authorization: authorization, ...type },
      ...(body && { body: JSON.stringify(body) }),
    }
    const response = await send(path, init)
    await response.body?.cancel()
    found.push(response.status)
  }
  return found
}

/** An account with a leased job and its worker, a second endpoint, and other resources that can be named. */
async function scene() {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue)
  const beside = await createEndpoint(queue.account.key)
  const secret = await api(queue.account.key).post('/v2/account/secrets', { name: 'S', value: 'canary' })
  const template = await api(queue.account.key).post('/v2/templates', { name: 't', image: 'acme/x:1' })
  const ids = { endpointId: queue.endpointId, jobId, workerId: worker.id, id: queue.endpointId, route: 'v1/models' }
  const idIn = (path: string) =>
    path.includes('/secrets/') ? secret.body.id : path.includes('/templates/') ? template.body.id : queue.endpointId
  const fill = (path: string) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === 'id' ? idIn(path) : ((ids as Record<string, string>)[name] ?? queue.endpointId),
    )
  return { queue, worker, jobId, beside, fill, token: worker.token }
}

describe('the key of a worker', () => {
  it('[S1] [CAP-20] opens no route of REST, the job API, the operator, the console, hosts or the SSH proxy', async () => {
    const { queue, token, fill } = await scene()
    expect(token).toMatch(/^ppw_/)
    const before = await settledState(queue.endpointId)
    const operations = [...DOCUMENTED, ...documentedIn(adminDocument())]
    expect(operations.length).toBeGreaterThan(190)
    for (const operation of operations) {
      const found = await statuses(token, operation, fill(operation.path))
      expect([401, 403], `${operation.id} ${found}`).toEqual(expect.arrayContaining(found))
    }
    for (const { method, path } of [...hostApi().routes, ...sshApi().routes].filter(({ method: verb }) => verb !== 'ALL')) {
      const at = `${path.startsWith('/admit') || path.startsWith('/open') ? '/ssh/v1' : '/host/v1'}${path}`
      const found = await statuses(token, { method, path: at, scope: '', body: method === 'POST' ? {} : undefined }, at)
      // Routes that take their credential in the body refuse its absence there.
      const isByBody = path === '/enrol' || path === '/token'
      expect(isByBody ? [400, 422] : [401, 403], `${method} ${at} ${found}`).toEqual(expect.arrayContaining(found))
    }
    for (const operation of documentedIn(consoleDocument()).filter(({ method, id = '' }) => method !== 'get' && !FOR_ANYONE.includes(id))) {
      const found = await statuses(token, operation, operation.path)
      expect([401, 403], `${operation.id} ${found}`).toEqual(expect.arrayContaining(found))
    }
    expect(await settledState(queue.endpointId)).toBe(before)
  })

  it('[CAP-20] opens nothing of API v1 and of GraphQL', async () => {
    const { queue, token, fill } = await scene()
    const before = await settledState(queue.endpointId)
    for (const { method, path } of V1_ROUTES) {
      const { status } = await v1(token).call(method, fill(path.replace(':id', '{id}')), method === 'GET' ? undefined : {})
      expect(status, `${method} ${path}`).toBe(401)
    }
    const roots = [executableSchema().getQueryType(), executableSchema().getMutationType()]
    expect(roots.flatMap((root) => Object.keys(root?.getFields() ?? {})).length).toBeGreaterThan(50)
    for (const document of ['{ myself { id } }', '{ gpuTypes { id } }', `mutation { deleteEndpoint(id: "${queue.endpointId}") }`]) {
      const response = await graphql(token)(document)
      expect([response.status, response.body.data], document).toEqual([401, undefined])
    }
    expect(await settledState(queue.endpointId)).toBe(before)
  })

  it('[CAP-20] has the listed operations for its own endpoint and worker, and for no other', async () => {
    const { queue, worker, beside, jobId } = await scene()
    const foreign = { 'another endpoint': [beside, worker.id], 'another worker': [queue.endpointId, 'another'] } as const
    const before = await settledState(queue.endpointId)
    for (const [name, [endpointId, workerId]] of Object.entries(foreign)) {
      for (const operation of OF_WORKERS) {
        const path = operation.path.replace('{endpointId}', endpointId).replace('{workerId}', workerId).replace('{jobId}', jobId)
        const found = await statuses(worker.token, operation, path)
        expect([401, 429], `${name} ${operation.path} ${found}`).toEqual(expect.arrayContaining(found))
      }
    }
    expect(await settledState(queue.endpointId)).toBe(before)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_PROGRESS')
    await worker.done(jobId, { output: { ok: true } })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: { ok: true } })
  })

  it('[S1] [CAP-20] is valid for six operations, which are the worker routes of the job API and those that a relay passes on', async () => {
    const routes = Object.entries(JOB_ROUTES).filter(([, { caller }]) => caller === 'worker')
    expect(WORKER_KEY_ACTIONS.toSorted()).toEqual(routes.map(([name]) => name).toSorted())
    const token = await issueWorkerToken(env, 'e', 'w')
    const may = async (operation: string) => (await ownByWorkerToken(env, { operation, endpointId: 'e', workerId: 'w' }, token)) !== null
    for (const name of Object.keys(JOB_ROUTES)) {
      expect(await may(name), name).toBe(WORKER_KEY_ACTIONS.includes(name))
      const passed = ['GET', 'POST'].some((method) => parseRelayRoute(method, `/v2/e/${name}/w/j`))
      expect(passed, name).toBe(WORKER_KEY_ACTIONS.includes(name))
    }
  })
})
