import { api, describe, env, expect, it } from '../../support/harness.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'

type Plan = { effects: { kind: string; what: string; severity: string; amount: number | null; resource: { id: string } }[] }
const brief = ({ effects }: Plan) => effects.map(({ kind, severity, what }) => [kind, severity, what])

describe('[DRY-7] PATCH of an endpoint', () => {
  it('the plan states whether a release is made, which workers it replaces, and the effect on jobs and price', async () => {
    const queue = await setUpQueue({ name: 'chat', workers: { min: 0, max: 2, idleTimeout: 60 } })
    const call = api(queue.account.key)
    const path = `/v2/serverless/${queue.endpointId}`
    const job = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(job)
    const ask = async (body: object): Promise<Plan> => (await call.patch(`${path}?dryRun=true`, body)).body
    const rows = () => env.DB.prepare('SELECT revision, config FROM endpoints WHERE id = ?').bind(queue.endpointId).first()
    const before = await rows()
    const plan = await ask({ image: 'acme/echo:2', env: { TOKEN: 'secret-value' } })
    expect(plan).toMatchObject({ action: 'endpoints.update', resource: { kind: 'endpoint', id: queue.endpointId, name: 'chat' } })
    expect(JSON.stringify(plan)).not.toContain('secret-value')
    expect(brief(plan)).toEqual([
      ['CHANGES', 'INFO', 'release 2 is created: imageName, env changed'],
      ['RESTARTS', 'WARNING', 'once it has finished 1 job, the worker is replaced by one of release 2'],
      ['FINISHES', 'INFO', '1 job that runs is finished'],
    ])
    expect(plan.effects[1]?.resource.id).toBe(worker.id)
    expect(brief(await ask({ workers: { max: 3 } }))).toEqual([
      ['CHANGES', 'INFO', 'changes workers.max at once, without a release'],
      ['STAYS', 'INFO', '1 worker keeps running unchanged'],
      ['FINISHES', 'INFO', '1 job that runs is finished'],
    ])
    const paused = await ask({ workers: { max: 0 } })
    expect(paused.effects.map(({ kind }) => kind)).toEqual(['CHANGES', 'STOPS', 'FINISHES', 'SAVES'])
    const grown = await ask({ workers: { min: 2 } })
    expect(grown.effects.find(({ kind }) => kind === 'STARTS')).toMatchObject({ amount: 1 })
    const rate = (await call.get('/v2/spend')).body.perHour
    expect(grown.effects.at(-1)).toMatchObject({ kind: 'COSTS', amount: expect.closeTo(rate, 6) })
    expect(brief(await ask({ name: 'chat' }))).toEqual([['STAYS', 'INFO', 'it already has this state; nothing changes']])
    expect(await rows()).toEqual(before)
    expect((await call.patch(path, { image: 'acme/echo:2' })).status).toBe(200)
    expect((await call.get(`${path}/releases`)).body.endpointVersion).toBe(2)
    await worker.done(job, { output: 1 })
    await queue.host.waitFor((workload) => workload.id === worker.id && workload.desired === 'stopped')
  })

  it('the plan is refused as the change is', async () => {
    const queue = await setUpQueue()
    const call = api(queue.account.key)
    const path = `/v2/serverless/${queue.endpointId}`
    for (const body of [
      { workers: { min: 9, max: 1 } },
      { registry: 'nosuchone' },
      { networkVolumes: ['nosuchone'] },
      { type: 'LOAD_BALANCER' },
    ]) {
      const real = await call.patch(path, body)
      expect(real.status).toBe(400)
      expect((await call.patch(`${path}?dryRun=true`, body)).body).toMatchObject({ effects: [], refusal: real.body })
    }
    expect((await call.patch(`${path}?dryRun=true`, { templateId: 'nosuchone' })).status).toBe(404)
  })
})
