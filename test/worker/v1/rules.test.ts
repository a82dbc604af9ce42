import { successorOf } from '../../../src/domain/v1/successors.ts'
import { V1_ROUTES } from '../../../src/http/v1/v1-api.ts'
import { auditOf } from '../../support/access/audited.ts'
import { snapshot, VICTIMS, type Victim } from '../../support/access/victims.ts'
import { type Account, api, createAccount, createEndpoint, createKey, describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { V1_BODIES as BODIES, v1BodyOf as bodyOf, V1_IMAGE as IMAGE, V1_KINDS as KINDS, v1 } from '../../support/http/v1.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

describe('callers of v1', () => {
  it('[LEG-4][AUT-3] need a key with the scope, checked before the body', async () => {
    const { userId } = await createAccount()
    const { key } = await createKey(userId, { permission: 'RESTRICTED', scopes: ['account:read'] })
    for (const { method, path } of V1_ROUTES) {
      const at = path.replace(':id', 'nosuchid')
      const otherTenant = await v1(null).call(method, at, bodyOf(method, path))
      expect([otherTenant.status, otherTenant.body], `${method} ${path}`).toEqual([401, { message: 'missing bearer token' }])
      const poor = await v1(key).call(method, at, method === 'GET' || method === 'DELETE' ? undefined : { nonsense: true })
      expect([poor.status, poor.body.message], `${method} ${path}`).toEqual([403, expect.stringContaining('the key lacks the scope')])
    }
  })

  it('[LEG-4][AUT-3] may read with a read-only key', async () => {
    const { userId } = await createAccount()
    const { key } = await createKey(userId, { permission: 'READ_ONLY' })
    for (const kind of Object.keys(KINDS)) {
      expect((await v1(key).get(`/${kind}`)).body, kind).toEqual([])
      expect((await v1(key).post(`/${kind}`, BODIES[`/${kind}`])).status, kind).toBe(403)
    }
  })

  it.each(Object.entries(KINDS))(
    '[LEG-4][AUT-5] get 404 for %s of others, as for unknown ones, which stay unchanged',
    async (kind, v2Path) => {
      const otherTenant = v1((await createAccount()).key)
      const victim = (await VICTIMS[v2Path]?.()) as Victim
      const before = await snapshot(victim)
      const id = victim.params.id ?? ''
      for (const { method, path } of V1_ROUTES.filter((route) => route.path.startsWith(`/${kind}/`))) {
        const reply = await otherTenant.call(method, path.replace(':id', id), bodyOf(method, path))
        expect([reply.status, reply.body], `${method} ${path}`).toEqual([
          404,
          { message: kind === 'pods' ? 'pod not found' : 'resource not found' },
        ])
      }
      expect(await snapshot(victim)).toEqual(before)
    },
  )
})

describe('v1 behaves as v2 in general', () => {
  it('[LEG-4][RATE-3] uses the quota of v2 and reports it, on errors too', async () => {
    const { key } = await createAccount()
    const first = await v1(key).get('/templates')
    const left = (headers: Headers) => Number(/"minute";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    const second = await v1(key).get('/templates/nosuchid')
    expect([first.status, second.status, left(second.headers)]).toEqual([200, 404, left(first.headers) - 1])
    expect(left((await api(key).get('/v2/templates')).headers)).toBe(left(first.headers) - 2)
  })

  it('[LEG-2][LEG-3] every error is a message, and every reply names its successor', async () => {
    const { key } = await createAccount()
    const call = v1(key)
    const replies = [
      [await call.get('/nothing'), 404, 'The requested path was not found.'],
      [await call.patch('/pods', {}), 405, 'The requested method is not allowed for this path.'],
      [await call.post('/templates', '{"name":'), 400, expect.stringContaining('the request body is not valid JSON')],
      [
        await call.post('/templates', { name: 't', imageName: IMAGE, bogus: 1 }),
        422,
        "Request validation failed. $: additional properties 'bogus' not allowed",
      ],
      [
        await call.post('/templates', { name: 't', imageName: 'no image' }),
        422,
        expect.stringContaining('$.imageName: want an image reference'),
      ],
      [
        await call.post('/templates', { name: 't', imageName: IMAGE, containerDiskInGb: 0 }),
        422,
        'Request validation failed. $.containerDiskInGb: minimum: got 0, want 1',
      ],
      [await call.post('/templates', 'x'.repeat(110_000)), 413, 'request body exceeds 102400 bytes'],
    ] as const
    for (const [reply, status, message] of replies) {
      expect([reply.status, reply.body]).toEqual([status, { message }])
      expect([reply.headers.get('content-type'), reply.headers.get('deprecation')]).toEqual(['application/json', '@1794700800'])
    }
    expect(replies[1][0].headers.get('allow')).toBe('GET, POST')
    expect((await call.get('/templates')).headers.get('link')).toBe(`<${successorOf('/v1/templates')}>; rel="successor-version"`)
  })

  it('[LEG-4][AUD-1] every change adds the audit row of v2', async () => {
    const scene = await podScene(gpus(1))
    const call = v1(scene.account.key)
    const ofPod = async () => {
      const pod = (await call.post('/pods', { computeType: 'CPU', imageName: IMAGE, containerDiskInGb: 10 })).body.id
      await scene.run(pod)
      await call.post(`/pods/${pod}/reset`)
      await scene.run(pod, 2)
      await call.post(`/pods/${pod}/restart`)
      await call.post(`/pods/${pod}/stop`)
      await call.patch(`/pods/${pod}`, { name: 'n2' })
      await call.delete(`/pods/${pod}`)
    }
    const of = async (kind: string, change: object | null) => {
      const { id } = (await call.post(`/${kind}`, BODIES[`/${kind}`])).body
      if (change) await call.patch(`/${kind}/${id}`, change)
      await call.delete(`/${kind}/${id}`)
    }
    await ofPod()
    await of('templates', { name: 't2' })
    await of('networkvolumes', { size: 20 })
    await of('containerregistryauth', null)
    const endpoint = await createEndpoint(scene.account.key)
    await call.patch(`/endpoints/${endpoint}`, { workersMax: 1 })
    await call.delete(`/endpoints/${endpoint}`)
    expect((await auditOf(scene.account)).map(({ action }) => action).filter((action) => !/^(users|quotas|keys)\./.test(action))).toEqual([
      ...['create', 'reset', 'restart', 'stop', 'update', 'terminate'].map((verb) => `pods.${verb}`),
      ...['create', 'update', 'delete'].map((verb) => `templates.${verb}`),
      ...['create', 'update', 'delete'].map((verb) => `network-volumes.${verb}`),
      ...['create', 'delete'].map((verb) => `registries.${verb}`),
      ...['create', 'update', 'delete'].map((verb) => `endpoints.${verb}`),
    ])
    scene.leave()
  })

  it('[LEG-6][IDEM-2] a repeat under a key returns the first pod, whichever host it got', async () => {
    const scene = await podScene(gpus(1))
    const call = v1(scene.account.key)
    const body = { imageName: IMAGE, gpuTypeIds: ['NVIDIA H200', 'NVIDIA L4'], containerDiskInGb: 5, volumeInGb: 0 }
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const first = await call.post('/pods', body, key)
    expect([first.status, first.body.gpuTypeId]).toEqual([201, 'NVIDIA L4'])
    const second = await call.post('/pods', body, key)
    expect([second.status, second.body.id]).toEqual([201, first.body.id])
    expect((await call.post('/pods', { ...body, name: 'other' }, key)).status).toBe(422)
    expect((await call.get('/pods')).body).toHaveLength(1)
    scene.leave()
  })
})

describe('pods of v1', () => {
  it('[LEG-6] the first host with room is taken; without room the reply has the reason for each', async () => {
    const scene = await podScene(gpus(1))
    const call = v1(scene.account.key)
    const ask = (changes: object) => call.post('/pods', { imageName: IMAGE, containerDiskInGb: 5, volumeInGb: 0, ...changes })
    const none = await ask({ gpuTypeIds: ['NVIDIA H200', 'NVIDIA B200'] })
    expect(none.status).toBe(400)
    expect(none.body.message).toMatch(/There are no longer any instances available.* NVIDIA H200: .* NVIDIA B200: /)
    expect((await call.get('/pods')).body).toEqual([])
    expect(await ask({})).toMatchObject({ status: 400, body: { message: expect.stringContaining('$.gpuTypeIds: list the GPU types') } })
    expect((await ask({ gpuTypeIds: ['NVIDIA H200', 'NVIDIA L4'] })).body).toMatchObject({
      gpuTypeId: 'NVIDIA L4',
      gpu: { displayName: 'L4' },
    })
    scene.leave()
  })

  it('[LEG-6] filters of the list, and defaults of a create', async () => {
    const scene = await podScene(gpus(2))
    const call = v1(scene.account.key)
    const gpu = (await call.post('/pods', { imageName: IMAGE, gpuTypeIds: ['NVIDIA L4'] })).body
    expect(gpu).toMatchObject({
      name: 'my pod',
      containerDiskInGb: 50,
      volumeInGb: 20,
      volumeMountPath: '/workspace',
      gpuCount: 1,
      locked: false,
    })
    const cpu = (await call.post('/pods', { imageName: IMAGE, computeType: 'CPU', name: 'small', locked: true })).body
    expect(cpu).toMatchObject({ containerDiskInGb: 20, volumeInGb: 0, vcpuCount: 2, cpuFlavorId: 'cpu3c', locked: true })
    const found = async (query: string) => (await call.get(`/pods?${query}`)).body.map(({ id }: { id: string }) => id)
    expect(await found('computeType=CPU')).toEqual([cpu.id])
    expect(await found('gpuTypeId=NVIDIA+L4&gpuTypeId=NVIDIA+A40')).toEqual([gpu.id])
    expect(await found('name=small&desiredStatus=RUNNING')).toEqual([cpu.id])
    expect(await found('desiredStatus=EXITED')).toEqual([])
    expect(await found(`id=${gpu.id}&includeSavingsPlans=true`)).toEqual([gpu.id])
    expect((await call.post(`/pods/${cpu.id}/reset`)).body).toEqual({ message: 'pod is locked' })
    scene.leave()
  })

  it('[LEG-6] a stopped pod that is reset starts with an empty container disk', async () => {
    const scene = await podScene(gpus(1))
    const call = v1(scene.account.key)
    const { id } = (await call.post('/pods', { imageName: IMAGE, computeType: 'CPU' })).body
    await scene.run(id)
    await call.post(`/pods/${id}/stop`)
    await scene.host.report(`${id}-1`, { state: 'exited', exitCode: 0 })
    expect((await call.post(`/pods/${id}/reset`)).status).toBe(200)
    const workload = await scene.host.waitFor((one) => one.id === `${id}-2`)
    expect(workload.keepDisk).toBeUndefined()
    scene.leave()
  })

  it('[LEG-5] null counts as omitted, and members that v2 does not have are without effect', async () => {
    const scene = await podScene(gpus(1))
    const sent = {
      imageName: IMAGE,
      computeType: 'CPU',
      name: null,
      env: null,
      interruptible: true,
      supportPublicIp: true,
      templateId: null,
    }
    const { status, body } = await v1(scene.account.key).post('/pods', sent)
    expect([status, body]).toMatchObject([201, { name: 'my pod', interruptible: false, templateId: null }])
    const changed = await v1(scene.account.key).patch(`/pods/${body.id}`, { name: null, env: { A: '1' } })
    expect(changed.body).toMatchObject({ name: 'my pod', env: { A: '1' } })
    const refused = await v1(scene.account.key).patch(`/pods/${body.id}`, { bidPerGpu: 1 })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      "Request validation failed. $: additional properties 'bidPerGpu' not allowed",
    ])
    scene.leave()
  })

  it('[LEG-6] one list of v1 and v2: a resource made in one is read in the other', async () => {
    const account: Account = await createAccount()
    const { body } = await api(account.key).post('/v2/templates', { name: 'from v2', image: IMAGE, public: false })
    expect((await v1(account.key).get(`/templates/${body.id}`)).body.name).toBe('from v2')
    const { id } = (await v1(account.key).post('/networkvolumes', BODIES['/networkvolumes'])).body
    expect((await api(account.key).get(`/v2/network-volumes/${id}`)).body).toMatchObject({ name: 'v', dataCenter: 'EU-RO-1' })
  })
})

describe('endpoints of v1', () => {
  it('[LEG-9] a create names a template and GPU types, which are pools without the others in them', async () => {
    const { key } = await createAccount()
    const call = v1(key)
    const templateId = (await call.post('/templates', { name: 'worker', imageName: IMAGE, isServerless: true, containerDiskInGb: 5 })).body
      .id
    const sent = {
      templateId,
      name: 'e',
      gpuTypeIds: ['NVIDIA L4'],
      scalerType: 'REQUEST_COUNT',
      scalerValue: 2,
      idleTimeout: 5,
      flashboot: true,
      workersMax: 2,
    }
    const { status, body } = await call.post('/endpoints', sent)
    expect([status, body]).toMatchObject([
      200,
      { templateId, gpuTypeIds: ['NVIDIA L4'], scalerType: 'REQUEST_COUNT', scalerValue: 2, flashboot: true },
    ])
    const v2 = (await api(key).get(`/v2/serverless/${body.id}`)).body
    expect(v2.gpu).toMatchObject({ pools: ['AMPERE_24'], excludedTypes: ['NVIDIA RTX A5000', 'NVIDIA GeForce RTX 3090'], count: 1 })
    expect(v2.scaling).toEqual({ type: 'REQUEST_COUNT', requestCount: 2 })
    expect((await call.patch(`/endpoints/${body.id}`, { scalerValue: 7 })).body).toMatchObject({
      scalerType: 'REQUEST_COUNT',
      scalerValue: 7,
    })
    const cpu = await call.post('/endpoints', { templateId, name: 'cpu', instanceIds: ['cpu3g-4-16'] })
    expect([cpu.status, cpu.body]).toMatchObject([200, { computeType: 'CPU', instanceIds: ['cpu3g-4-16'], gpuTypeIds: [] }])
  })

  it.each([
    [{ gpuTypeIds: ['NVIDIA H200 NVL'] }, '$.gpuTypeIds: NVIDIA H200 NVL is in no pool for Serverless'],
    [{ gpuTypeIds: ['GT 710'] }, '$.gpuTypeIds: GT 710 is not a known GPU type'],
    [{}, '$.gpuTypeIds: list the GPU types in order of preference, or set computeType to CPU'],
    [{ instanceIds: ['large'] }, '$.instanceIds: want <flavor>-<vCPUs>-<GB>, such as cpu3g-4-16'],
    [{ computeType: 'CPU' }, '$.instanceIds: list the CPU machines in order of preference, such as cpu3g-4-16'],
  ])('[LEG-9] %j is 400', async (changes, message) => {
    const call = v1((await createAccount()).key)
    const reply = await call.post('/endpoints', { templateId: 'x', name: 'e', ...changes })
    expect([reply.status, reply.body]).toEqual([400, { message }])
  })
})
