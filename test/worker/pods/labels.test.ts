import { auditRows } from '../../support/access/audited.ts'
import { createAccount, describe, env, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { manyPods, PODS, PodScene, podBody, podScene, setPod } from '../../support/pods/pod-scene.ts'
import { readPod } from '../../support/pods/pods.ts'

const listed = async (scene: PodScene, query: string) => {
  const { status, body } = await scene.call.get(`${PODS}?${query}`)
  expect(status, query).toBe(200)
  return { ids: body.pods.map(({ id }: { id: string }) => id), next: body.pagination.nextCursor }
}
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']))

describe('labels of a pod', () => {
  it('[LBL-1] have limits of number and form', async () => {
    const scene = await podScene()
    const longest = { ['K'.repeat(63)]: 'v'.repeat(63), 'a.b_c/d-9': '' }
    expect((await scene.create({ labels: longest })).labels).toEqual(longest)
    expect((await scene.create({ labels: many(32) })).labels).toEqual(many(32))
    for (const labels of [many(33), { '': 'v' }, { ['k'.repeat(64)]: 'v' }, { k: 'v'.repeat(64) }, { 'a b': 'v' }, { k: 'ä' }, { k: 1 }]) {
      expect((await scene.call.post(PODS, podBody({ labels }))).status, JSON.stringify(labels)).toBe(422)
    }
    scene.leave()
  })

  it('[LBL-2] [LBL-3] are replaced by PATCH without a new container, planned, audited, and removed with the pod', async () => {
    const scene = await podScene()
    const { id, labels } = await scene.create({ labels: { team: 'research', a: '1' } })
    expect(labels).toEqual({ a: '1', team: 'research' })
    await scene.run(id)
    const next = { stage: 'test' }
    const { body: plan } = await scene.call.patch(`${PODS}/${id}?dryRun=true`, { labels: next })
    expect(plan.effects.map(({ what }: { what: string }) => what)).toEqual(['changes labels; the running container is not affected'])
    expect((await scene.get(id)).labels).toEqual(labels)
    const patched = await scene.call.patch(`${PODS}/${id}`, { labels: next })
    expect(patched).toMatchObject({ status: 200, body: { labels: next, status: 'RUNNING' } })
    expect((await readPod(id)).generation).toBe(1)
    expect((await scene.call.patch(`${PODS}/${id}`, { name: 'q' })).body.labels).toEqual(next)
    const [row] = await auditRows("resource_id = ? AND action = 'pods.update'", id)
    expect(row).toMatchObject({ before: { labels }, after: { labels: next } })
    expect((await scene.call.patch(`${PODS}/${id}`, { labels: null })).body.labels).toEqual({})
    await scene.call.patch(`${PODS}/${id}`, { labels: next })
    await scene.end(id)
    expect((await readPod(id)).labels).toEqual({})
    scene.leave()
  })

  it('[LBL-6] are read, set and removed in GraphQL', async () => {
    const scene = await podScene(gpus(1, 'NVIDIA L4'))
    const call = graphql(scene.account.key)
    const input = { name: 'g', imageName: 'acme/idle:1', gpuTypeId: 'NVIDIA L4', labels: [{ key: 'team', value: 'research' }] }
    const deploy =
      'mutation($input: PodFindAndDeployOnDemandInput!) { podFindAndDeployOnDemand(input: $input) { id labels { key value } } }'
    const { id, labels } = (await call(deploy, { input })).body.data.podFindAndDeployOnDemand
    expect(labels).toEqual(input.labels)
    const edit = async (change: object) => {
      const { body } = await call('mutation($input: PodEditJobInput!) { podEditJob(input: $input) { labels { key value } } }', {
        input: { podId: id, ...change },
      })
      return body.data.podEditJob.labels
    }
    expect(await edit({ name: 'h' })).toEqual(input.labels)
    expect(await edit({ labels: [{ key: 'b', value: '2' }] })).toEqual([{ key: 'b', value: '2' }])
    expect(await edit({ labels: [] })).toEqual([])
    scene.leave()
  })
})

describe('the list of pods by label', () => {
  it('[LBL-4] has pods of the own account with all labels only, in pages', async () => {
    const scene = await podScene(gpus(8))
    const ids: string[] = []
    for (const [n, stage] of ['test', 'live', 'test', 'test'].entries()) {
      const { id } = await scene.create({ labels: { team: 'research', stage } })
      await setPod(id, { created_at: 1_000 + n })
      ids.unshift(id)
    }
    const [d, c, b, a] = ids
    await scene.create()
    const other = new PodScene(scene.host, await createAccount())
    const foreign = await other.create({ labels: { team: 'research', stage: 'test' } })
    expect((await listed(scene, 'label=team=research')).ids).toEqual(ids)
    expect((await listed(scene, 'label=stage')).ids).toEqual(ids)
    expect((await listed(scene, 'label=team=research&label=stage=live')).ids).toEqual([b])
    expect((await listed(scene, 'label=team=other')).ids).toEqual([])
    expect((await listed(scene, 'label=stage=live&label=stage=test')).ids).toEqual([])
    expect((await listed(other, 'label=team=research')).ids).toEqual([foreign.id])
    const first = await listed(scene, 'label=stage=test&limit=2')
    expect(first).toEqual({ ids: [d, c], next: expect.any(String) })
    const second = `label=stage=test&limit=2&cursor=${first.next}`
    expect(await listed(scene, second)).toEqual({ ids: [a], next: null })
    expect((await other.call.get(`${PODS}?${second}`)).body.pods).toEqual([])
    expect((await scene.call.get(`${PODS}?label=stage&cursor=${first.next}`)).status).toBe(422)
    await scene.act(d ?? '', 'terminate')
    expect((await listed(scene, 'label=stage=test')).ids).toEqual([c, a])
    // A previous release that serves beside this one does not remove the labels of a pod that it terminates.
    await setPod(c ?? '', { status: 'TERMINATED' })
    expect(await listed(scene, 'label=team=research&limit=1')).toEqual({ ids: [b], next: expect.any(String) })
    for (const query of ['label=', 'label==x', 'label=a%20b', Array(9).fill('label=a').join('&')]) {
      expect((await scene.call.get(`${PODS}?${query}`)).status, query).toBe(422)
    }
    scene.leave()
  })

  it('[LBL-5] examines 1000 pods a page, and continues behind them', async () => {
    const scene = await podScene()
    const { id } = await scene.create({ labels: { team: 'research' } })
    await setPod(id, { created_at: 1 })
    await manyPods(id, 1_000, { labels: '{"team":"other"}' })
    const first = await listed(scene, 'label=team=research')
    expect(first).toEqual({ ids: [], next: expect.any(String) })
    expect(await listed(scene, `label=team=research&cursor=${first.next}`)).toEqual({ ids: [id], next: null })
    await env.DB.prepare('DELETE FROM pods WHERE labels = \'{"team":"other"}\'').run()
    scene.leave()
  })
})
