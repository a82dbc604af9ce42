import { openDatabase } from '../../../src/db/client.ts'
import { findInvitationOf } from '../../../src/db/organizations/invitations.ts'
import { pullWith } from '../../../src/effects/registry-login.ts'
import { keyedDigest } from '../../../src/platform/crypto.ts'
import { authenticate, isStillGood } from '../../../src/services/authenticate.ts'
import { isStillRunning } from '../../../src/services/pods/ingress/channels.ts'
import { admitSsh } from '../../../src/services/pods/ingress/ssh.ts'
import { type Account, admin, api, createAccount, createKeyIn, createOrganization, env, expect, joinTeam, teamOf } from '../harness.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { gpus } from '../hosts/gpus.ts'
import { AWS_VARS, FakeAws } from '../http/fake-aws.ts'
import { LogReader } from '../http/log-reader.ts'
import { PODS, podBody } from '../pods/pod-scene.ts'

/** A machine for the derived workloads of a cell: all GPUs of a type. */
export interface Machine {
  host: FakeHost
  gpu: string
  pool: string
}

/** Joins a machine with many GPUs of a type. */
export async function machineOf(gpu: string, pool: string): Promise<Machine> {
  return { host: await FakeHost.join(gpus(1_000, gpu)), gpu, pool }
}

const ECR = '123456789012.dkr.ecr.us-east-1.amazonaws.com/team/models:v1'
const ARN = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'

/** An account with its only owner and an administrator; `maker` is the one of the two from whom a credential is derived. */
export interface Standing {
  teamId: string
  boss: Account
  member: Account
  maker: Account
  machine: Machine
}

/** An organization, or the personal account of `boss`, which has no other member. */
export async function standing(machine: Machine, maker: 'boss' | 'member' | 'boss alone'): Promise<Standing> {
  const boss = await createAccount()
  if (maker === 'boss alone') return { teamId: await teamOf(boss), boss, member: boss, maker: boss, machine }
  const [teamId, member] = [await createOrganization(boss.key), await createAccount()]
  await joinTeam(teamId, member, 'ADMIN')
  return { teamId, boss, member, maker: maker === 'boss' ? boss : member, machine }
}

/** A derived credential: whether it is valid, and the ids on which an end may act. */
export interface Derived {
  isGood(): Promise<boolean>
  /** For an open connection: whether it has been closed. */
  isClosed?(): boolean
  podId?: string
  endpointId?: string
  workerId?: string
}

async function keyOf({ teamId }: Standing, account: Account): Promise<string> {
  return (await createKeyIn(teamId, account)).key
}

async function runningPod(scene: Standing, key: string, changes: object = {}) {
  const reply = await api(key).post(PODS, podBody({ gpu: { id: scene.machine.gpu }, ...changes }))
  expect(reply.status).toBe(201)
  const workload = await scene.machine.host.waitFor(({ id }) => id === `${reply.body.id}-1`)
  await scene.machine.host.report(workload.id, { state: 'running' })
  return { podId: reply.body.id as string, workload }
}

async function runningWorker(scene: Standing, key: string) {
  const body = { name: 'echo', image: 'builtin/echo', gpu: { pools: [scene.machine.pool] }, workers: { min: 0, max: 1, idleTimeout: 60 } }
  const reply = await api(key).post('/v2/serverless', body)
  expect(reply.status).toBe(201)
  const endpointId = reply.body.id as string
  const submit = () => api(key).post(`/v2/${endpointId}/run`, { input: {} })
  expect((await submit()).status).toBe(200)
  const worker = await scene.machine.host.startWorker(endpointId)
  return { endpointId, worker, submit }
}

async function isKeyGood(key: string): Promise<boolean> {
  return (await api(key).get('/v2/registries')).status === 200
}

/** Whether a stream opened with a key would continue, by a fresh check as in another isolate. */
async function watch(key: string): Promise<() => Promise<boolean>> {
  const header = `Bearer ${key}`
  const caller = await authenticate(env, header, Date.now())
  if (!caller.ok) throw new Error(caller.problem)
  return () => isStillGood(env, header, caller.principal, Date.now(), 0)
}

/** Every kind in the matrix of derived credentials, each created as a member or a machine creates it. */
export const DERIVED_KINDS = {
  apiKey: async (scene: Standing): Promise<Derived> => {
    const key = await keyOf(scene, scene.maker)
    return { isGood: () => isKeyGood(key) }
  },
  invitation: async (scene: Standing): Promise<Derived> => {
    const guest = await createAccount()
    const path = `/v2/organizations/${scene.teamId}/invitations`
    const reply = await api(scene.maker.key).post(path, { email: guest.email, role: scene.maker === scene.boss ? 'OWNER' : 'DEV' })
    expect(reply.status).toBe(201)
    const hash = await keyedDigest(env.KEY_PEPPER, `invitation\n${reply.body.token}`)
    return {
      isGood: async () => {
        const found = await findInvitationOf(openDatabase(env.DB), guest.userId, hash, Date.now())
        if (found) return true
        const accepted = await api(guest.key).post('/v2/organizations/invitations/accept', { token: reply.body.token })
        expect([accepted.status, accepted.body.detail]).toEqual([404, expect.stringContaining('may not invite')])
        const row = await env.DB.prepare('SELECT 1 FROM memberships WHERE team_id = ? AND user_id = ?').bind(scene.teamId, guest.userId)
        expect(await row.first()).toBeNull()
        return false
      },
    }
  },
  delegation: async (scene: Standing): Promise<Derived> => {
    const key = await keyOf(scene, scene.maker)
    expect((await api(key).post('/v2/registries/delegations', { resource: ARN })).status).toBe(201)
    const aws = FakeAws.start()
    return {
      isGood: async () => {
        const asked = aws.calls.length
        const start = await pullWith({ ...env, ...AWS_VARS }, scene.teamId, { registry: null, image: ECR })
        if (start.ok) return start.login?.username === 'AWS'
        expect([start.reason, aws.calls.length]).toEqual([expect.stringContaining('is not valid: the user who delegated'), asked])
        return false
      },
    }
  },
  sshKey: async (scene: Standing): Promise<Derived> => {
    const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHR3b3RoaXJ0eXR3b3RoaXJ0eXR3b3RoaXJ0eXR3 me@laptop'
    const put = await api(await keyOf(scene, scene.maker)).put('/v2/account/ssh-keys', { keys: [line] })
    expect([put.status, put.body.makers]).toEqual([200, [expect.objectContaining({ userId: scene.maker.userId, endedBecause: null })]])
    const { podId } = await runningPod(scene, await keyOf(scene, scene.boss), { startSsh: true })
    const { suffix } = (await env.DB.prepare('SELECT ssh_suffix AS suffix FROM pods WHERE id = ?').bind(podId).first()) as {
      suffix: string
    }
    const login = { user: `${podId}-${suffix}`, key: line, connect: false, address: '192.0.2.7' }
    return {
      podId,
      isGood: () =>
        admitSsh({ env, nowMs: Date.now(), requestId: 'test' }, login).then(
          () => true,
          () => false,
        ),
    }
  },
  podKey: async (scene: Standing): Promise<Derived> => {
    const { podId, workload } = await runningPod(scene, await keyOf(scene, scene.boss))
    const key = workload.platformEnv.RUNPOD_API_KEY ?? ''
    return { podId, isGood: async () => (await api(key).get(`${PODS}/${podId}`)).status === 200 }
  },
  workerKey: async (scene: Standing): Promise<Derived> => {
    const { endpointId, worker, submit } = await runningWorker(scene, await keyOf(scene, scene.boss))
    return {
      endpointId,
      workerId: worker.id,
      isGood: async () => {
        const job = await worker.take()
        if (job) await worker.done(job.id, { output: 1 })
        await submit()
        return job !== null
      },
    }
  },
  logStream: async (scene: Standing): Promise<Derived> => {
    const key = await keyOf(scene, scene.maker)
    const { podId } = await runningPod(scene, await keyOf(scene, scene.boss))
    const reader = await LogReader.open(key, `${PODS}/${podId}/logs`)
    let isOpen = true
    const over = () => {
      isOpen = false
    }
    // A stream that stays open is cut with the objects of its file.
    void reader.ended().then(over, over)
    const goesOn = await watch(key)
    return { podId, isGood: async () => (await goesOn()) && isOpen, isClosed: () => !isOpen }
  },
  door: async (scene: Standing): Promise<Derived> => {
    const key = await keyOf(scene, scene.maker)
    const { podId } = await runningPod(scene, await keyOf(scene, scene.boss))
    const goesOn = await watch(key)
    return { podId, isGood: async () => (await goesOn()) && (await isStillRunning(env, { id: podId, generation: 1 })) }
  },
  logGrant: async (scene: Standing): Promise<Derived> => {
    const { endpointId, worker } = await runningWorker(scene, await keyOf(scene, scene.boss))
    let sequence = 1
    return {
      endpointId,
      workerId: worker.id,
      isGood: async () => {
        const { id, log } = worker.workload
        const lines = [{ seq: sequence++, at: Date.now(), source: 'container', line: 'line' }]
        const results = await scene.machine.host.tryShip([{ workloadId: id, access: log, lines }])
        return results?.some((result) => 'takenSeq' in result) ?? false
      },
    }
  },
  hostToken: async (scene: Standing): Promise<Derived> => ({ isGood: async () => (await scene.machine.host.callStatus('logs')) === 200 }),
} as const satisfies Record<string, (scene: Standing) => Promise<Derived>>

export type DerivedKind = keyof typeof DERIVED_KINDS

/** Every way in which a parent can end; each returns the statuses of its answers. */
export const PARENT_ENDS = {
  userSuspended: (_made: Derived, { maker }: Standing) => admin().post(`/admin/v1/users/${maker.userId}/suspend`),
  accountSuspended: (_made: Derived, { teamId }: Standing) => admin().post(`/admin/v1/organizations/${teamId}/suspend`),
  memberRemoved: (_made: Derived, { teamId, boss, maker }: Standing) =>
    api(boss.key).delete(`/v2/organizations/${teamId}/members/${maker.userId}`),
  memberLeft: (_made: Derived, { teamId, maker }: Standing) => api(maker.key).delete(`/v2/organizations/${teamId}/members/${maker.userId}`),
  roleDemoted: (_made: Derived, { teamId, boss, maker }: Standing) =>
    api(boss.key).patch(`/v2/organizations/${teamId}/members/${maker.userId}`, { role: 'BASIC' }),
  handedOver: (_made: Derived, { teamId, boss, member }: Standing) =>
    api(boss.key).post(`/v2/organizations/${teamId}/hand-over`, { userId: member.userId }),
  organizationDeleted: (_made: Derived, { teamId, boss }: Standing) => api(boss.key).delete(`/v2/organizations/${teamId}`),
  userDeleted: (_made: Derived, { maker }: Standing) => admin().delete(`/admin/v1/users/${maker.userId}`),
  podTerminated: async ({ podId }: Derived, scene: Standing) =>
    api(await keyOf(scene, scene.boss)).post(`${PODS}/${podId}/action`, { action: 'terminate' }),
  endpointDeleted: async ({ endpointId }: Derived, scene: Standing) =>
    api(await keyOf(scene, scene.boss)).delete(`/v2/serverless/${endpointId}`),
  workerGone: async ({ workerId = '' }: Derived, { machine }: Standing) => {
    await machine.host.report(workerId, { state: 'gone' })
    return { status: 200 }
  },
  hostRemoved: async (_made: Derived, { machine: { host } }: Standing) => {
    // A machine can be removed only once its workloads are gone.
    await env.DB.prepare('DELETE FROM allocations WHERE host_id = ?').bind(host.id).run()
    const reply = await admin().delete(`/admin/v1/hosts/${host.id}`)
    host.leave()
    return reply
  },
} as const satisfies Record<string, (made: Derived, scene: Standing) => Promise<{ status: number }>>

export type ParentEnd = keyof typeof PARENT_ENDS
