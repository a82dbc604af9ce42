import { describe, env, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { cpuPodBody, PODS, type PodScene, podScene, setPod } from '../../../support/pods/pod-scene.ts'

async function patch(scene: PodScene, id: string, body: Record<string, unknown>) {
  return scene.call.patch(`${PODS}/${id}`, body)
}

async function held(id: string): Promise<{ disk_gb: number; gpu_count: number }> {
  const row = await env.DB.prepare('SELECT disk_gb, gpu_count FROM allocations WHERE id = ?')
    .bind(id)
    .first<{ disk_gb: number; gpu_count: number }>()
  if (!row) throw new Error('holds nothing')
  return row
}

/** [title, PATCH body] of changes that make a new container. */
const NEW_CONTAINER: [string, Record<string, unknown>][] = [
  ['image', { image: 'acme/probe:1' }],
  ['args', { args: 'sleep 2' }],
  ['cmd', { cmd: ['sleep', '2'] }],
  ['entrypoint', { entrypoint: ['sh'] }],
  ['env', { env: { A: '2' } }],
  ['ports', { ports: ['22/tcp', '80/http'] }],
  ['disk', { disk: 11 }],
  ['a mount path', { mounts: { persistent: { size: 20, path: '/elsewhere' } } }],
]
/** [title, PATCH body] of changes that keep the container. */
const SAME_CONTAINER: [string, Record<string, unknown>][] = [
  ['nothing', {}],
  ['the name', { name: 'q' }],
  ['the lock', { locked: true }],
  ['the same image', { image: 'acme/idle:1' }],
  ['the same command in another form', { args: '{"cmd":["sleep","1"]}' }],
  ['the same env', { env: { A: '1', B: '2' } }],
  ['env in another order', { env: { B: '2', A: '1' } }],
  ['ports in another order', { ports: ['80/http', '22/tcp', '8888/http'] }],
  ['a persistent mount that grows', { mounts: { persistent: { size: 21, path: '/workspace' } } }],
  ['global networking off', { globalNetworking: false }],
  ['an empty template', { templateId: '' }],
  ['no mounts', { mounts: {} }],
]
const POD = {
  args: 'sleep 1',
  env: { A: '1', B: '2' },
  ports: ['8888/http', '22/tcp', '80/http'],
  mounts: { persistent: { size: 20, path: '/workspace' } },
}

describe('PATCH', () => {
  it.each(NEW_CONTAINER)('[POD-13] [POD-34] %s makes a new container of a running pod, with an empty disk', async (_what, body) => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create(POD)
    await scene.run(id)
    const reply = await patch(scene, id, body)
    expect(reply).toMatchObject({ status: 200, body: { status: 'STARTING', startedAt: null, cost: 0.44 } })
    const next = await scene.host.waitFor((workload) => workload.id === `${id}-2`)
    expect(next).toMatchObject({ desired: 'running', replaces: [`${id}-1`] })
    expect(next.keepDisk).toBeUndefined()
    const usage = await env.DB.prepare('SELECT COUNT(*) AS n FROM usage WHERE workload_id = ?').bind(id).first<{ n: number }>()
    expect(usage?.n).toBe(1)
    scene.leave()
  })

  it.each(SAME_CONTAINER)('[POD-13] [STRICT-3] %s keeps the container', async (_what, body) => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create(POD)
    await scene.run(id)
    expect(await patch(scene, id, body)).toMatchObject({ status: 200, body: { status: 'RUNNING' } })
    expect((await scene.get(id)).status).toBe('RUNNING')
    scene.leave()
  })

  it('[STRICT-3] a PATCH without a change makes no new version', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create(POD)
    for (const body of [{}, { name: 'p' }, { mounts: {} }, { disk: 10, locked: false }]) {
      expect((await scene.call.patch(`${PODS}/${id}`, body)).headers.get('etag')).toBe('"1"')
    }
    scene.leave()
  })

  it('[CON-4] [STRICT-3] empty values clear, a part of the command keeps the other', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ entrypoint: ['sh', '-c'], cmd: ['true'], env: { A: '1' }, ports: ['22/tcp'] })
    expect((await patch(scene, id, { cmd: [] })).body).toMatchObject({
      entrypoint: ['sh', '-c'],
      cmd: [],
      args: '{"entrypoint":["sh","-c"]}',
    })
    expect((await patch(scene, id, { args: '' })).body).toMatchObject({ entrypoint: [], cmd: [], args: '' })
    expect((await patch(scene, id, { env: {}, ports: [], registry: null })).body).toMatchObject({ env: {}, ports: [], registry: null })
    expect(await patch(scene, id, { image: '' })).toMatchObject({ status: 400, body: { detail: 'image cannot be empty' } })
    expect(await patch(scene, id, { args: 'a', cmd: ['b'] })).toMatchObject({ status: 400 })
    scene.leave()
  })

  it('[STRICT-1] members that are fixed at create are unknown members', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    for (const member of ['gpu', 'cpu', 'cloud', 'dataCenterIds', 'startSsh', 'startJupyter', 'id', 'status']) {
      expect((await patch(scene, id, { [member]: 'x' })).body.errors).toEqual([`$: additional properties '${member}' not allowed`])
    }
    expect((await patch(scene, id, { name: '' })).body.errors).toEqual(['$.name: minLength: got 0, want 1'])
    // [NET-49] The host of the pod has no private network.
    expect((await patch(scene, id, { globalNetworking: true })).status).toBe(400)
    scene.leave()
  })

  it('[POD-20] [POD-41] [ENV-4] a new env keeps the variables of startSsh and startJupyter, through restarts and templates', async () => {
    const scene = await podScene(gpus(1))
    await scene.call.put('/v2/account/ssh-keys', { keys: ['ssh-ed25519 AAAA a@b'] })
    const { id, env: made } = await scene.create({ env: { A: '1' }, startSsh: true, startJupyter: true })
    const access = { PUBLIC_KEY: made.PUBLIC_KEY, JUPYTER_PASSWORD: made.JUPYTER_PASSWORD }
    expect(made).toEqual({ ...access, A: '1' })
    await scene.run(id)
    expect((await patch(scene, id, { env: { B: '2' } })).body.env).toEqual({ ...access, B: '2' })
    expect((await scene.host.waitFor(({ id: workload }) => workload === `${id}-2`)).env).toEqual({ ...access, B: '2' })
    await scene.run(id, 2)
    expect((await scene.act(id, 'restart')).body.env).toEqual({ ...access, B: '2' })
    expect((await scene.host.waitFor(({ id: workload }) => workload === `${id}-3`)).env).toEqual({ ...access, B: '2' })
    const template = { name: `t${id}`, image: 'acme/idle:1', env: { T: '3' }, startSsh: false, startJupyter: false }
    const templateId = (await scene.call.post('/v2/templates', template)).body.id
    expect((await patch(scene, id, { templateId })).body.env).toEqual({ ...access, T: '3' })
    expect((await patch(scene, id, { env: { PUBLIC_KEY: 'mine' } })).body.env).toEqual({ ...access, PUBLIC_KEY: 'mine' })
    expect((await patch(scene, id, { env: {} })).body.env).toEqual(access)
    scene.leave()
  })

  it('[POD-15] [POD-43] a locked pod keeps its container, unless the same request unlocks it', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    expect((await patch(scene, id, { locked: true })).body).toMatchObject({ locked: true, actions: ['terminate'] })
    const refused = { status: 409, body: { detail: 'pod is locked', code: 'LOCKED' } }
    expect(await patch(scene, id, { env: { A: '1' } })).toMatchObject(refused)
    expect((await patch(scene, id, { name: 'renamed' })).body).toMatchObject({ name: 'renamed', status: 'RUNNING' })
    await setPod(id, { status: 'EXITED' })
    expect(await patch(scene, id, { env: { A: '1' } })).toMatchObject(refused)
    expect((await patch(scene, id, { env: { A: '1' }, locked: false })).body).toMatchObject({
      locked: false,
      env: { A: '1' },
      status: 'EXITED',
    })
    scene.leave()
  })

  it('[POD-13] a stopped pod gets its new container with the next start', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    expect((await patch(scene, id, { env: { A: '1' } })).body).toMatchObject({ status: 'EXITED', env: { A: '1' } })
    await scene.act(id, 'start')
    const next = await scene.host.waitFor((workload) => workload.id === `${id}-2`)
    expect(next).toMatchObject({ env: { A: '1' } })
    expect(next.keepDisk).toBeUndefined()
    scene.leave()
  })

  it('[POD-49] a disk that grows is reserved with the change; without enough room it is 400 and changes nothing', async () => {
    // The host trusts its tenants, so no share of the disk is reserved for others (SHR-41).
    const scene = await podScene({ ...gpus(1), diskGb: 100, isolation: { network: true, trustedTenants: true } })
    const { id } = await scene.create({ disk: 40, mounts: { persistent: { size: 20, path: '/a' } } })
    await scene.run(id)
    expect(await held(id)).toMatchObject({ disk_gb: 60 })
    expect((await patch(scene, id, { disk: 70 })).body).toMatchObject({ disk: 70 })
    expect(await held(id)).toMatchObject({ disk_gb: 90 })
    const refused = { status: 400, body: { detail: 'There is not enough free disk on the host machine of this pod.', code: 'NO_CAPACITY' } }
    expect(await patch(scene, id, { disk: 81 })).toMatchObject(refused)
    expect(await patch(scene, id, { mounts: { persistent: { size: 31, path: '/a' } } })).toMatchObject(refused)
    expect(await scene.get(id)).toMatchObject({ disk: 70, mounts: { persistent: { size: 20 } } })
    expect((await patch(scene, id, { mounts: { persistent: { size: 30, path: '/a' } } })).status).toBe(200)
    expect(await held(id)).toMatchObject({ disk_gb: 100, gpu_count: 1 })
    expect((await patch(scene, id, { disk: 10 })).status).toBe(200)
    expect(await held(id)).toMatchObject({ disk_gb: 40 })
    scene.leave()
  })

  it('[POD-49] a smaller disk of a stopped pod is freed when it starts', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ disk: 40 })
    await scene.run(id)
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    await patch(scene, id, { disk: 10 })
    expect(await held(id)).toMatchObject({ disk_gb: 40, gpu_count: 0 })
    await scene.act(id, 'start')
    expect(await held(id)).toMatchObject({ disk_gb: 10, gpu_count: 1 })
    scene.leave()
  })

  it('[POD-8] the disk of a CPU pod stays within its vCPUs', async () => {
    const scene = await podScene()
    const { id } = await scene.create(cpuPodBody())
    expect((await patch(scene, id, { disk: 20 })).status).toBe(200)
    expect((await patch(scene, id, { disk: 21 })).body.detail).toBe('disk 21 is above 20 GB, the most for 2 vCPUs')
    scene.leave()
  })

  it('[POD-48] onHostLoss changes, but not to REPLACE with a persistent mount', async () => {
    const scene = await podScene(gpus(2))
    const [bare, mounted] = [await scene.create(), await scene.create(POD)]
    expect((await patch(scene, bare.id, { onHostLoss: 'REPLACE' })).body).toMatchObject({ onHostLoss: 'REPLACE', status: 'PROVISIONING' })
    expect((await patch(scene, mounted.id, { onHostLoss: 'REPLACE' })).status).toBe(400)
    scene.leave()
  })
})
