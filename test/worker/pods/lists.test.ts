import { createAccount, describe, env, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { manyPods, PODS, PodScene, podScene, setPod } from '../../support/pods/pod-scene.ts'

const listed = async (scene: PodScene, query: string) => {
  const { status, body } = await scene.call.get(`${PODS}?${query}`)
  expect(status, query).toBe(200)
  return { names: body.pods.map(({ name }: { name: string }) => name), next: body.pagination.nextCursor, counts: body.counts }
}

async function walk(scene: PodScene, query: string): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor = ''; ; ) {
    const { names, next } = await listed(scene, query + cursor)
    pages.push(names)
    if (next === null) return pages
    cursor = `&cursor=${next}`
  }
}

/** Pods of these names, the first one the oldest. */
async function named(scene: PodScene, names: readonly string[], changes: object = {}): Promise<string[]> {
  const ids: string[] = []
  for (const [n, name] of names.entries()) {
    const { id } = await scene.create({ name, ...changes })
    await setPod(id, { created_at: 1_000 + n })
    ids.push(id)
  }
  return ids
}

describe('search, filter and order of the list of pods', () => {
  it('[PAG-20] finds a part of the name in any case, of the own account only, and takes every character literally', async () => {
    const scene = await podScene(gpus(8))
    await named(scene, ['Train-1', 'eval', 'retrain', '100%_b', 'ü'])
    const other = new PodScene(scene.host, await createAccount())
    await named(other, ['train-of-other'])
    expect((await listed(scene, 'name=TRAIN')).names).toEqual(['retrain', 'Train-1'])
    expect((await listed(scene, 'name=%25_')).names).toEqual(['100%_b'])
    expect((await listed(scene, 'name=%C3%BC')).names).toEqual(['ü'])
    expect((await listed(scene, 'name=')).names).toHaveLength(5)
    expect((await listed(other, 'name=train')).names).toEqual(['train-of-other'])
    expect((await scene.call.get(`${PODS}?name=${'n'.repeat(192)}`)).status).toBe(422)
    scene.leave()
  })

  it('[PAG-21] is ordered by age or name, page by page, also for equal names', async () => {
    const scene = await podScene(gpus(8))
    await named(scene, ['b', 'C', 'a', 'b', 'b'])
    const whole = ['a', 'b', 'b', 'b', 'C']
    expect((await walk(scene, 'limit=2&sort=name')).flat()).toEqual(whole)
    expect((await walk(scene, 'limit=2&sort=name')).map(({ length }) => length)).toEqual([2, 2, 1])
    expect((await walk(scene, 'limit=2&sort=oldest')).flat()).toEqual(['b', 'C', 'a', 'b', 'b'])
    expect((await walk(scene, 'limit=2&sort=newest')).flat()).toEqual(['b', 'b', 'a', 'C', 'b'])
    const { next } = await listed(scene, 'limit=2&sort=name')
    for (const query of ['', 'sort=oldest&', 'sort=name&name=b&', 'sort=name&status=RUNNING&'])
      expect((await scene.call.get(`${PODS}?${query}cursor=${next}`)).status, query).toBe(422)
    expect((await scene.call.get(`${PODS}?sort=price`)).status).toBe(422)
    scene.leave()
  })

  it('[PAG-22] has only pods of the given statuses, and full pages without members of clusters', async () => {
    const scene = await podScene(gpus(8))
    const ids = await named(scene, ['a', 'b', 'c', 'd', 'e', 'f'])
    for (const id of ids.slice(2, 5)) await setPod(id, { status: 'ERROR' })
    await setPod(ids[4] ?? '', { cluster_id: 'cluster1' })
    await setPod(ids[5] ?? '', { status: 'RUNNING' })
    expect(await walk(scene, 'status=ERROR&limit=2')).toEqual([['d', 'c']])
    expect(await walk(scene, 'status=ERROR&limit=2&includeClusterPods=true')).toEqual([['e', 'd'], ['c']])
    expect(await walk(scene, 'status=ERROR&status=RUNNING')).toEqual([['f', 'd', 'c']])
    expect(await walk(scene, 'status=EXITED')).toEqual([[]])
    expect(await walk(scene, 'status=TERMINATED')).toEqual([[]])
    expect((await scene.call.get(`${PODS}?status=DEAD`)).status).toBe(422)
    scene.leave()
  })

  it('[PAG-22] [LBL-4] goes together with labels, in every order', async () => {
    const scene = await podScene(gpus(8))
    const ids = await named(scene, ['b', 'a', 'C'], { labels: { team: 'x' } })
    await named(scene, ['aa'])
    await setPod(ids[0] ?? '', { status: 'ERROR' })
    expect((await listed(scene, 'label=team=x&status=ERROR')).names).toEqual(['b'])
    expect((await listed(scene, 'label=team=x&name=a')).names).toEqual(['a'])
    expect((await walk(scene, 'label=team&sort=name&limit=2')).flat()).toEqual(['a', 'b', 'C'])
    expect((await walk(scene, 'label=team&sort=oldest&limit=1')).flat()).toEqual(['b', 'a', 'C'])
    scene.leave()
  })
})

describe('counts of the list of pods', () => {
  it('[PAG-24] are of the whole account whatever the filter, with the reasons of failures in groups', async () => {
    const scene = await podScene(gpus(8))
    const ids = await named(scene, ['a', 'b', 'c', 'd', 'e', 'f'])
    for (const id of ids.slice(0, 3)) await setPod(id, { status: 'ERROR', status_reason: 'no such image' })
    await setPod(ids[3] ?? '', { status: 'ERROR', status_reason: 'lost' })
    await setPod(ids[4] ?? '', { status: 'RUNNING' })
    await setPod(ids[5] ?? '', { status_reason: 'pulling', cluster_id: 'cluster1' })
    const other = new PodScene(scene.host, await createAccount())
    await named(other, ['x'])
    const { names, counts } = await listed(scene, 'name=a&limit=1&include=COUNTS')
    expect(names).toEqual(['a'])
    expect(counts).toEqual({
      total: 5,
      byStatus: { ERROR: 4, RUNNING: 1 },
      reasons: [
        { status: 'ERROR', reason: 'no such image', count: 3, podId: ids[2], podName: 'c' },
        { status: 'ERROR', reason: 'lost', count: 1, podId: ids[3], podName: 'd' },
      ],
    })
    const withMembers = (await listed(scene, 'include=COUNTS&includeClusterPods=true')).counts
    expect(withMembers).toMatchObject({ total: 6, byStatus: { PROVISIONING: 1 } })
    expect(withMembers.reasons.at(-1)).toMatchObject({ status: 'PROVISIONING', reason: 'pulling' })
    expect((await listed(scene, '')).counts).toBeUndefined()
    scene.leave()
  })

  it('[PAG-23] read the index alone, and a search opens matching rows only, however many there are', async () => {
    const scene = await podScene()
    const [id = ''] = await named(scene, ['last'])
    await manyPods(id, 10_000, { name: 'dead', status: 'ERROR' })
    const { names, counts } = await listed(scene, 'limit=50&name=last&include=COUNTS')
    expect(names).toEqual(['last'])
    expect(counts).toMatchObject({ total: 10_001, byStatus: { ERROR: 10_000, PROVISIONING: 1 } })
    expect((await listed(scene, 'limit=50&status=PROVISIONING&sort=name')).names).toEqual(['last'])
    const { meta } = await env.DB.prepare(
      `SELECT spec FROM pods WHERE team_id = (SELECT team_id FROM pods WHERE id = ?) AND "pods"."status" <> 'TERMINATED'
       AND instr(lower(name), lower(?)) > 0 ORDER BY created_at DESC, id DESC LIMIT 51`,
    )
      .bind(id, 'last')
      .run()
    // One row for each entry of the index, and one for the match.
    expect(meta.rows_read).toBeLessThan(10_010)
    await env.DB.prepare("DELETE FROM pods WHERE name = 'dead'").run()
    scene.leave()
  })
})
