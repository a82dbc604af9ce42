import { describe, env, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, podScene } from '../../support/pods/pod-scene.ts'

type Plan = { effects: { kind: string; what: string; severity: string; amount: number | null }[] }
const brief = ({ effects }: Plan) => effects.map(({ kind, severity, what }) => [kind, severity, what])

describe('[DRY-6] PATCH of a pod', () => {
  it('the plan distinguishes a change in place from one with a new container, with its losses and its cost; the change has these effects', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ name: 'notebook', mounts: { persistent: { size: 10, path: '/data' } } })
    await scene.run(id)
    const ask = async (body: object) => (await scene.call.patch(`${PODS}/${id}?dryRun=true`, body)).body
    expect(brief(await ask({ name: 'two', locked: false }))).toEqual([
      ['CHANGES', 'INFO', 'changes name; the running container is not affected'],
    ])
    expect(brief(await ask({ name: 'notebook' }))).toEqual([['STAYS', 'INFO', 'it already has this state; nothing changes']])
    const plan = await ask({ env: { MODEL: 'secret-value' }, disk: 80 })
    expect(plan).toMatchObject({ action: 'pods.update', resource: { kind: 'pod', id, name: 'notebook' }, refusal: null })
    expect(JSON.stringify(plan)).not.toContain('secret-value')
    expect(brief(plan)).toEqual([
      ['CHANGES', 'INFO', 'changes env, disk'],
      ['RESTARTS', 'WARNING', 'its container is stopped and another is started; ports may change'],
      ['DELETES', 'LOSS', 'data on the container disk is lost'],
      ['STAYS', 'INFO', 'its persistent volume keeps its data'],
      ['COSTS', 'INFO', expect.stringContaining('USD per hour becomes')],
    ])
    expect(await scene.get(id)).toMatchObject({ name: 'notebook', status: 'RUNNING', env: {} })
    const rate = async () => (await scene.call.get('/v2/spend')).body.perHour
    const before = await rate()
    expect((await scene.call.patch(`${PODS}/${id}`, { env: { MODEL: 'secret-value' }, disk: 80 })).status).toBe(200)
    expect((await rate()) - before).toBeCloseTo(plan.effects.at(-1).amount, 6)
    await scene.host.waitFor((workload) => workload.id === `${id}-2`)
    scene.leave()
  })

  it('the plan is refused as the change is: an unknown registry, a locked pod, no disk, another version', async () => {
    const scene = await podScene({ ...gpus(1), diskGb: 100 })
    const { id } = await scene.create()
    await scene.run(id)
    const both = async (body: object, headers = {}) => {
      const foretold = await scene.call.patch(`${PODS}/${id}?dryRun=true`, body, headers)
      const real = await scene.call.patch(`${PODS}/${id}`, body, headers)
      expect(foretold).toMatchObject({ status: 200, body: { effects: [], refusal: real.body } })
      return real.status
    }
    expect(await both({ registry: 'nosuchone' })).toBe(400)
    expect(await both({ disk: 200 })).toBe(400)
    expect(await both({ name: 'x' }, { 'If-Match': '"99"' })).toBe(412)
    await scene.call.patch(`${PODS}/${id}`, { locked: true })
    expect(await both({ env: { A: 'b' } })).toBe(409)
    expect((await scene.call.patch(`${PODS}/${id}?dryRun=true`, { templateId: 'nosuchone' })).status).toBe(404)
    expect((await scene.call.patch(`${PODS}/${id}?dryRun=true`, { disk: 'much' })).status).toBe(422)
    scene.leave()
  })
})

describe('[DRY-6] an action on a pod', () => {
  it('the plan lists the effects, and refuses a start whose room is taken', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const ask = (action: string) => scene.call.post(`${PODS}/${id}/action?dryRun=true`, { action })
    const kindsOf = async (action: string) => ((await ask(action)).body as Plan).effects.map(({ kind }) => kind)
    expect(await kindsOf('stop')).toEqual(['STOPS', 'SAVES'])
    expect(await kindsOf('restart')).toEqual(['RESTARTS', 'DELETES'])
    const refused = await scene.call.post(`${PODS}/${id}/action`, { action: 'start' })
    expect(refused.status).toBe(409)
    expect((await ask('start')).body.refusal).toEqual(refused.body)
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    expect(await kindsOf('start')).toEqual(['STARTS', 'COSTS'])
    expect((await scene.get(id)).status).toBe('EXITED')
    const other = await scene.create()
    const full = await scene.call.post(`${PODS}/${id}/action`, { action: 'start' })
    expect(full.status).toBe(400)
    expect((await ask('start')).body.refusal).toEqual(full.body)
    expect((await scene.get(other.id)).status).not.toBe('EXITED')
    scene.leave()
  })

  it('the plan contains no address and claims no credential', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const { body: registry } = await scene.call.post('/v2/registries', { name: 'any', username: 'ada', password: 'secret' })
    await env.DB.prepare('UPDATE registries SET host = NULL WHERE id = ?').bind(registry.id).run()
    const { status } = await scene.call.patch(`${PODS}/${id}?dryRun=true`, { registry: registry.id, globalNetworking: true })
    expect(status).toBe(200)
    expect(await env.DB.prepare('SELECT host FROM registries WHERE id = ?').bind(registry.id).first()).toEqual({ host: null })
    scene.leave()
  })
})
