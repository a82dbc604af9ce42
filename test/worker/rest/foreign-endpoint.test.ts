import { JOB_ROUTES } from '../../../src/contract/jobs/job-routes.ts'
import { type Account, api, createAccount, describe, env, expect, it, listDurableObjectIds, type Reply } from '../../support/harness.ts'
import { type QueueSetup, run, runAndTake, setUpQueue } from '../../support/queue.ts'

const UNKNOWN_ID = 'aaaaaaaaaaaaaa'

/** An endpoint with a running and a waiting job, the way its owner sees it. */
interface Victim {
  queue: QueueSetup
  running: string
  waiting: string
  workerId: string
}

async function createVictim(): Promise<Victim> {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue, { of: 'the victim' })
  return { queue, running: jobId, waiting: await run(queue, { waits: true }), workerId: worker.id }
}

/** Everything that the owner can read, without what counts the time. */
async function snapshot({ queue, running, waiting, workerId }: Victim): Promise<unknown> {
  const { key } = queue.account
  const paths = [
    `/v2/serverless/${queue.endpointId}`,
    ...['releases', 'scaling', 'workers'].map((part) => `/v2/serverless/${queue.endpointId}/${part}`),
    ...['health', `status/${running}`, `status/${waiting}`].map((part) => `/v2/${queue.endpointId}/${part}`),
  ]
  const replies: (readonly [string, number, unknown])[] = []
  for (const path of paths) {
    const { status, body } = await api(key).get(path)
    replies.push([path, status, withoutClocks(body)])
  }
  const wanted = queue.host.desired().find(({ id }) => id === workerId)?.desired
  return { replies, wanted }
}

function withoutClocks(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (name, value) => (/^(uptimeSeconds|delayTime)$/.test(name) ? undefined : value)))
}

/** Every call that could change an endpoint, its queue or its jobs, by a method and a path below `/v2/`. */
function mutations(
  endpointId: string,
  { running, waiting, workerId }: Victim,
): { method: 'post' | 'patch' | 'delete' | 'get'; path: string; body?: object }[] {
  const rest = `/v2/serverless/${endpointId}`
  const jobs = Object.entries(JOB_ROUTES).flatMap(([operation, route]) => {
    const path = `/v2/${endpointId}/${operation}`
    if (route.params === 'job') return [`${path}/${running}`, `${path}/${waiting}`]
    if (route.params === 'worker') return [`${path}/${workerId}`]
    if (route.params === 'worker-job') return [`${path}/${workerId}/${running}`]
    return [route.params === 'rest' ? `${path}/v1/chat/completions` : path]
  })
  return [
    { method: 'delete', path: rest },
    { method: 'patch', path: rest, body: { name: 'taken over', workers: { min: 0, max: 0 }, env: { A: '1' } } },
    { method: 'patch', path: rest, body: {} },
    ...jobs.flatMap((path) => [
      { method: 'post' as const, path, body: { input: { of: 'a stranger' }, output: 'forged' } },
      { method: 'get' as const, path },
    ]),
  ]
}

const told = ({ status, body }: Reply, endpointId: string) => [status, JSON.stringify(body).replaceAll(endpointId, '<id>')]

describe('what a stranger does to an endpoint', () => {
  async function attack(victim: Victim, stranger: Account): Promise<void> {
    const before = await snapshot(victim)
    const unknown = mutations(UNKNOWN_ID, victim)
    for (const [index, { method, path, body }] of mutations(victim.queue.endpointId, victim).entries()) {
      const label = `${method} ${path}`
      const reply = await api(stranger.key)[method](path, body)
      expect(reply.status, label).toBeGreaterThanOrEqual(400)
      const other = unknown[index]
      if (!other) throw new Error('as many calls of both')
      const answer = await api(stranger.key)[other.method](other.path, other.body)
      expect(told(reply, victim.queue.endpointId), label).toEqual(told(answer, UNKNOWN_ID))
      expect(await snapshot(victim), label).toEqual(before)
    }
  }

  it('[PP-160] [AUT-5] changes nothing of it, its queue, its jobs and its workers, whatever the call', async () => {
    await attack(await createVictim(), await createAccount())
  })

  it('[PP-160] an id that is unknown or of another account never becomes an object', async () => {
    const stranger = await createAccount()
    const known = async () => (await listDurableObjectIds(env.ENDPOINT)).map(String)
    expect((await api(stranger.key).delete(`/v2/serverless/${UNKNOWN_ID}`)).status).toBe(404)
    for (const { method, path, body } of mutations(UNKNOWN_ID, { running: 'a', waiting: 'b', workerId: 'c' } as Victim)) {
      await api(stranger.key)[method](path, body)
    }
    expect(await known()).not.toContain(env.ENDPOINT.idFromName(UNKNOWN_ID).toString())
  })
})
