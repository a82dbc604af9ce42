import { api, createAccount, describe, env, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, type PodScene, podScene, setPod } from '../../../support/pods/pod-scene.ts'

interface Page {
  ids: string[]
  next: string | null
}

async function page(scene: PodScene, query: string): Promise<Page> {
  const { status, body } = await scene.call.get(`${PODS}?${query}`)
  expect(status).toBe(200)
  expect(body.pagination).toEqual({ nextCursor: body.pagination.nextCursor, hasNextPage: body.pagination.nextCursor !== null })
  return { ids: body.pods.map(({ id }: { id: string }) => id), next: body.pagination.nextCursor }
}

async function walk(scene: PodScene, query: string, between: () => Promise<unknown> = async () => null): Promise<Page[]> {
  const pages: Page[] = []
  for (let cursor = ''; ; ) {
    const next = await page(scene, query + cursor)
    pages.push(next)
    if (next.next === null) return pages
    cursor = `&cursor=${next.next}`
    await between()
  }
}

describe('the list of pods', () => {
  it('[PAG-1] [PAG-2] [POD-1] is cut into pages, newest first, without terminated pods', async () => {
    const scene = await podScene(gpus(8))
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      const { id } = await scene.create({ name: `p${n}` })
      await setPod(id, { created_at: 1_000 + n })
      ids.unshift(id)
    }
    const { id: ended } = await scene.create()
    await scene.act(ended, 'terminate')
    const pages = await walk(scene, 'limit=2')
    expect(pages.map((one) => one.ids)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
    expect((await page(scene, '')).ids).toEqual(ids)
    expect((await walk(scene, 'limit=5')).map((one) => one.ids.length)).toEqual([5])
    scene.leave()
  })

  it('[PAG-8] pods created and ended during a walk neither hide nor repeat the others, also those of one millisecond', async () => {
    const scene = await podScene(gpus(16))
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) ids.push((await scene.create()).id)
    const [victim] = ids
    await env.DB.prepare(`UPDATE pods SET created_at = 5 WHERE id IN (${ids.map(() => '?').join()})`)
      .bind(...ids)
      .run()
    let isFirst = true
    const pages = await walk(scene, 'limit=2', async () => {
      await scene.create()
      if (isFirst && victim) await scene.act(victim, 'terminate')
      isFirst = false
    })
    const seen = pages.flatMap((one) => one.ids)
    for (const id of ids.slice(1))
      expect(
        seen.filter((other) => other === id),
        id,
      ).toHaveLength(1)
    scene.leave()
  })

  it('[PAG-7] [POD-1] [REST-31] members of clusters are removed from a page that was cut before; includeClusterPods shows them', async () => {
    const scene = await podScene(gpus(8))
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) ids.unshift((await scene.create()).id)
    for (const [index, id] of ids.entries()) {
      await setPod(id, { created_at: 100 - index, ...(index < 3 && { cluster_id: 'cluster1' }) })
    }
    expect((await walk(scene, 'limit=2')).map((one) => one.ids)).toEqual([[], ids.slice(3, 4), ids.slice(4)])
    expect((await walk(scene, 'limit=2&includeClusterPods=true')).flatMap((one) => one.ids)).toEqual(ids)
    for (const form of ['True', 'TRUE', '1']) expect((await page(scene, `includeClusterPods=${form}`)).ids, form).toEqual(ids)
    for (const form of ['False', '0']) expect((await page(scene, `includeClusterPods=${form}`)).ids, form).toEqual(ids.slice(3))
    const { next } = await page(scene, 'limit=2')
    expect((await scene.call.get(`${PODS}?includeClusterPods=true&cursor=${next}`)).body.errors).toEqual([
      '$.cursor: not a cursor of this list',
    ])
    expect((await page(scene, `limit=7&cursor=${next}`)).ids).toEqual(ids.slice(3))
    scene.leave()
  })

  it('[PAG-2] [PAG-3] [REST-9] invalid limits and cursors are 422', async () => {
    const { key } = await createAccount()
    const errorsFor = async (query: string) => (await api(key).get(`${PODS}?${query}`)).body.errors
    expect(await errorsFor('limit=0')).toEqual(['$.limit: minimum: got 0, want 1'])
    expect(await errorsFor('limit=1001')).toEqual(['$.limit: maximum: got 1001, want 1000'])
    expect(await errorsFor('cursor=')).toEqual(['$.cursor: minLength: got 0, want 1'])
    expect(await errorsFor('cursor=abc')).toEqual(['$.cursor: not a cursor of this list'])
    expect(await errorsFor('includeClusterPods=yes')).toEqual(["$.includeClusterPods: value must be one of 'true', '1', 'false', '0'"])
    expect((await api(key).get(`${PODS}?limit=1000`)).body).toEqual({ pods: [], pagination: { nextCursor: null, hasNextPage: false } })
  })

  it('[POD-50] [PAG-7] a page of large pods ends early, and the walk still shows each of them once', async () => {
    const scene = await podScene(gpus(12))
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) ids.unshift((await scene.create({ env: { BIG: 'x'.repeat(90_000) } })).id)
    for (const [index, id] of ids.entries()) await setPod(id, { created_at: 100 - index })
    // 1.9 MB each: five of them exceed 8 MiB.
    await env.DB.prepare(`UPDATE pods SET spec = json_set(spec, '$.container.env.BIG', ?) WHERE id IN (${ids.map(() => '?').join()})`)
      .bind('x'.repeat(1_900_000), ...ids)
      .run()
    const pages = await walk(scene, 'limit=100')
    expect(pages.map((one) => one.ids.length)).toEqual([5, 1])
    expect(pages.flatMap((one) => one.ids)).toEqual(ids)
    expect((await walk(scene, 'limit=2')).map((one) => one.ids.length)).toEqual([2, 2, 2])
    scene.leave()
  })

  it('[POD-50] is read through the index of the account, whatever other accounts have', async () => {
    const plan = await env.DB.prepare(
      `EXPLAIN QUERY PLAN SELECT * FROM pods WHERE team_id = ? AND "pods"."status" <> 'TERMINATED' AND (created_at, id) < (?, ?)
       ORDER BY created_at DESC, id DESC LIMIT ?`,
    )
      .bind('t', 1, 'i', 10)
      .all<{ detail: string }>()
    expect(plan.results.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^SEARCH pods USING INDEX pods_team_created \(team_id=\?/),
    ])
  })
})

describe('runtime', () => {
  it('[POD-50] figures of the host are shown while the pod runs and are omitted when it reports none', async () => {
    const scene = await podScene(gpus(4))
    const [busy, silent, stopped] = [await scene.create(), await scene.create(), await scene.create()]
    for (const { id } of [busy, silent, stopped]) await scene.run(id)
    await scene.host.beat({ stats: [{ id: `${busy.id}-1`, cpu: 42, memory: 7, gpus: [{ util: 98, memoryUtil: 55 }] }] })
    await scene.act(stopped.id, 'stop')
    const { pods } = (await scene.call.get(PODS)).body
    const runtimeOf = (id: string) => pods.find((pod: { id: string }) => pod.id === id).runtime
    expect(runtimeOf(busy.id)).toEqual({
      uptime: expect.any(Number),
      gpus: [{ util: 98, memoryUtil: 55 }],
      cpu: { util: 42 },
      memory: { util: 7 },
      idleSince: null,
      ports: [],
    })
    expect(runtimeOf(silent.id)).toEqual({ uptime: expect.any(Number), ports: [] })
    expect(runtimeOf(stopped.id)).toBeNull()
    expect((await scene.get(busy.id)).runtime).toMatchObject({ cpu: { util: 42 } })
    await setPod(busy.id, { started_at: Date.now() - 3_600_500 })
    expect((await scene.get(busy.id)).runtime.uptime).toBeGreaterThanOrEqual(3600)
    scene.leave()
  })
})
