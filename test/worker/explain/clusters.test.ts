import { ClusterExplanation } from '../../../src/contract/explain/explain.ts'
import { api, createAccount, describe, expect, it } from '../../support/harness.ts'
import { CLUSTERS, ClusterScene } from '../../support/hosts/cluster-scene.ts'

describe('[WHY-16] why a cluster is where it is', () => {
  it('on its way and running, by its members; not readable for other accounts', async () => {
    const scene = await ClusterScene.open(3)
    const call = api(scene.account.key)
    const { id } = await scene.create()
    const explain = async () => {
      const { status, body } = await call.get(`${CLUSTERS}/${id}/explain`)
      expect(status).toBe(200)
      expect(ClusterExplanation.parse(body)).toEqual(body)
      return body
    }
    expect(await explain()).toMatchObject({
      id,
      code: 'PREPARING',
      verdict: '3 of 3 members are placed but not ready; all members start together when they can reach one another.',
      evidence: [{ kind: 'STATE', text: 'PROVISIONING', count: 3, total: 3 }],
      options: [],
      isStale: false,
    })
    expect((await api((await createAccount()).key).get(`${CLUSTERS}/${id}/explain`)).status).toBe(404)
    expect((await call.get(`${CLUSTERS}/nosuch/explain`)).status).toBe(404)
    await call.delete(`${CLUSTERS}/${id}`)
    scene.leave()
    const other = await ClusterScene.open(3)
    const owner = api(other.account.key)
    const running = await other.running()
    expect((await owner.get(`${CLUSTERS}/${running.id}/explain`)).body).toMatchObject({
      code: 'RUNNING',
      verdict: 'All 3 members are running.',
    })
    await owner.delete(`${CLUSTERS}/${running.id}`)
    other.leave()
  })
})
