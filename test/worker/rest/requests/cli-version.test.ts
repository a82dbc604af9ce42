import { OLDEST_CLI } from '../../../../src/http/callers/cli-version.ts'
import { VERSION } from '../../../../src/platform/version.ts'
import worker from '../../../../src/worker.ts'
import { api, createAccount, createEndpoint, createExecutionContext, env, expect, it, ORIGIN, send } from '../../../support/harness.ts'

const OWN_HEADERS = ['podplane-version', 'podplane-oldest-cli']
const received = ({ headers }: Response) => OWN_HEADERS.map((name) => headers.get(name))
const as = (agent: string, key: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { authorization: `Bearer ${key}`, 'user-agent': agent, 'content-type': 'application/json' },
})

it('[CMD-9] the command line gets the versions, also from the job API; other clients do not', async () => {
  const { key } = await createAccount()
  const endpointId = await createEndpoint(key)
  for (const path of ['/healthz', '/v2/pods', `/v2/${endpointId}/health`]) {
    const reply = await send(path, as('podplane-cli/0.1.0', key))
    expect({ path, status: reply.status, told: received(reply) }).toEqual({ path, status: 200, told: [VERSION, OLDEST_CLI] })
    expect(received(await send(path, as('curl/8.5.0', key)))).toEqual([null, null])
  }
})

it('[CMD-9] a version that is too old is refused, and nothing is made', async () => {
  const { key } = await createAccount()
  const body = JSON.stringify({ name: 'old', image: 'acme/model:1' })
  const request = new Request(`${ORIGIN}/v2/templates`, as('podplane-cli/0.0.9', key, { method: 'POST', body }))
  // `Request` directly, because the documents of operations do not describe the headers for the command line.
  const reply = await worker.fetch(request as never, env, createExecutionContext())
  expect({ status: reply.status, told: received(reply), body: await reply.json() }).toEqual({
    status: 426,
    told: [VERSION, OLDEST_CLI],
    body: {
      title: 'Upgrade Required',
      status: 426,
      detail: `podplane 0.0.9 is too old for this plane (version ${VERSION}), which supports ${OLDEST_CLI} and later`,
      code: 'CLI_TOO_OLD',
    },
  })
  expect((await api(key).get('/v2/templates')).body).toMatchObject({ templates: [] })
})
