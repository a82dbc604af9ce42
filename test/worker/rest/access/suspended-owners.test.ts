import { authenticate } from '../../../../src/services/authenticate.ts'
import { findHttpPort } from '../../../../src/services/pods/ingress/http-port.ts'
import { FakeProvider } from '../../../support/access/provider.ts'
import {
  type Account,
  admin,
  api,
  beforeEach,
  createAccount,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
} from '../../../support/harness.ts'
import { PODS, type PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'

const suspend = (who: Pick<Account, 'userId'>, word = 'suspend', query = '') =>
  admin().post(`/admin/v1/users/${who.userId}/${word}${query}`)

/** An organization with one running pod: the organization's key and the pod's key. */
interface Running {
  team: string
  key: string
  podId: string
  podKey: string
}

let scene: PodScene
let owner: Account
let ours: Running
let neighbours: Running
/** The address of a pod is cached for some seconds, so each look-up is one minute later. */
let minutes = 0

async function running(by: Account): Promise<Running> {
  const team = await createOrganization(by.key)
  const { key } = await createKeyIn(team, by)
  const podId: string = (await api(key).post(PODS, podBody({ ports: ['8888/http'] }))).body.id
  const workload = await scene.host.waitFor(({ id }) => id === `${podId}-1`)
  await scene.host.report(workload.id, { state: 'running' })
  return { team, key, podId, podKey: workload.platformEnv.RUNPOD_API_KEY ?? '' }
}

/** The state of an organization: its pod, the address of a port, its key and the key of its pod. */
async function stateOf({ key, podId, podKey }: Running) {
  const row = await env.DB.prepare('SELECT status FROM pods WHERE id = ?').bind(podId).first<{ status: string }>()
  const connection = await findHttpPort(env, podId, 8888, null, Date.now() + 60_000 * ++minutes).then(
    () => 200,
    ({ status }: { status: number }) => status,
  )
  const [keys, pods] = await Promise.all([key, podKey].map(async (one) => (await api(one).get(`${PODS}/${podId}`)).status))
  return [row?.status, connection, keys, pods]
}
const WORKS = ['RUNNING', 200, 200, 200]

beforeEach(async () => {
  scene = await podScene()
  owner = scene.account
  ours = await running(owner)
  neighbours = await running(await createAccount())
  return () => scene.leave()
})

describe('an organization whose owners are all suspended', () => {
  it('[S14] [DER-20] [DER-21] is suspended with its only owner: pods, ports, keys and the keys of pods; another organization is not affected', async () => {
    expect([await stateOf(ours), await stateOf(neighbours)]).toEqual([WORKS, WORKS])
    const plan = await suspend(owner, 'suspend', '?dryRun=true')
    const stops = plan.body.effects.filter(({ resource }: { resource: { id: string } }) => resource.id === ours.podId)
    expect(stops).toMatchObject([{ kind: 'STOPS', resource: { kind: 'pod' } }])
    expect(await suspend(owner)).toMatchObject({ status: 200, body: { suspendedAt: expect.any(String), pods: 1, failed: [] } })
    await scene.host.waitFor(({ id, desired }) => id === `${ours.podId}-1` && desired !== 'running')
    expect([await stateOf(ours), await stateOf(neighbours)]).toEqual([['EXITED', 404, 403, 403], WORKS])
    await scene.host.report(`${ours.podId}-1`, { state: 'exited' })
    expect(await suspend(owner, 'resume')).toMatchObject({ status: 200, body: { suspendedAt: null, pods: 1, failed: [] } })
    await scene.run(ours.podId, 2)
    expect([await stateOf(ours), await stateOf(neighbours)]).toEqual([WORKS, WORKS])
  })

  it('[S14] [DER-20] refuses its other members, by key and by session, who keep their own accounts', async () => {
    const member = await createAccount()
    await joinTeam(ours.team, member, 'ADMIN')
    const { key } = await createKeyIn(ours.team, member)
    const provider = await FakeProvider.start()
    const token = await provider.token({ email: member.email })
    const session = (account: string) => api(token).get(PODS, undefined, { 'X-Team-Id': account })
    await suspend(owner)
    expect([(await api(key).get(PODS)).status, (await session(ours.team)).status]).toEqual([403, 403])
    expect([(await api(member.key).get(PODS)).status, (await session('')).status]).toEqual([200, 200])
  })

  it('[S14] [DER-20] gets nothing of a host by a key that another isolate has cached: the statement checks too', async () => {
    expect((await api(ours.key).get(PODS)).status).toBe(200)
    await env.DB.prepare('UPDATE teams SET suspended_at = 1 WHERE id = ?')
      .bind(await teamOf(owner))
      .run()
    // The cache of this isolate still holds the valid decision.
    expect((await api(ours.key).get(PODS)).status).toBe(200)
    expect((await api(ours.key).post(PODS, podBody())).status).toBe(403)
    const row = await env.DB.prepare('SELECT COUNT(*) AS pods FROM pods WHERE team_id = ?').bind(ours.team).first()
    expect(row).toEqual({ pods: 1 })
  })

  it('[DER-20] [DER-23] continues under another owner, for whom its pods act; with the last of them it ends', async () => {
    const second = await createAccount()
    await joinTeam(ours.team, second, 'OWNER')
    await env.DB.prepare('UPDATE memberships SET created_at = ? WHERE team_id = ? AND user_id = ?')
      .bind(Date.now() + 1, ours.team, second.userId)
      .run()
    const actsFor = async () => {
      const caller = await authenticate(env, `Bearer ${ours.podKey}`, Date.now())
      return caller.ok ? caller.principal.userId : caller.problem
    }
    expect(await actsFor()).toBe(owner.userId)
    expect((await suspend(owner)).body).toMatchObject({ pods: 0 })
    expect([await actsFor(), (await api(ours.podKey).get(`${PODS}/${ours.podId}`)).status]).toEqual([second.userId, 200])
    expect((await suspend(second)).body).toMatchObject({ pods: 1 })
    expect(await actsFor()).toBe('accountSuspended')
    expect((await suspend(owner, 'resume')).body).toMatchObject({ pods: 1 })
    expect(await actsFor()).toBe(owner.userId)
  })

  it('[DER-21] stays suspended while one of both reasons lasts, and reports it', async () => {
    const word = (what: string, query = '') => admin().post(`/admin/v1/organizations/${ours.team}/${what}${query}`)
    await suspend(owner)
    const { body } = await word('resume', '?dryRun=true')
    expect(body.effects).toMatchObject([{ kind: 'STAYS', what: expect.stringContaining('all of its owners are') }])
    expect((await word('resume')).body).toMatchObject({ suspendedAt: expect.any(String), pods: 0 })
    await word('suspend')
    expect((await suspend(owner, 'resume')).body).toMatchObject({ pods: 0 })
    expect((await api(ours.key).get(PODS)).status).toBe(403)
    expect((await word('resume')).body).toMatchObject({ suspendedAt: null, pods: 1 })
    expect((await api(ours.key).get(PODS)).status).toBe(200)
  })

  it('[DER-21] stays so when its last unsuspended owner is deleted', async () => {
    const second = await createAccount()
    await joinTeam(ours.team, second, 'OWNER')
    await suspend(owner)
    expect((await stateOf(ours))[0]).toBe('RUNNING')
    expect((await admin().delete(`/admin/v1/users/${second.userId}`)).status).toBe(200)
    expect(await stateOf(ours)).toEqual(['EXITED', 404, 403, 403])
  })

  it('[DER-22] is never made by a member: the last owner who is not suspended neither leaves nor steps down nor hands over to a suspended one', async () => {
    const second = await createAccount()
    await joinTeam(ours.team, second, 'OWNER')
    await suspend(second)
    const call = api(owner.key)
    const path = `/v2/organizations/${ours.team}`
    const roles = async () =>
      (await env.DB.prepare('SELECT role FROM memberships WHERE team_id = ? ORDER BY role').bind(ours.team).all()).results
    const before = await roles()
    expect((await call.delete(`${path}/members/${owner.userId}`)).status).toBe(409)
    expect((await call.patch(`${path}/members/${owner.userId}`, { role: 'ADMIN' })).status).toBe(409)
    expect(await call.post(`${path}/hand-over`, { userId: second.userId })).toMatchObject({ status: 400, body: { code: 'RULE' } })
    expect(await roles()).toEqual(before)
    expect((await call.delete(`${path}/members/${second.userId}`)).status).toBe(204)
  })
})
