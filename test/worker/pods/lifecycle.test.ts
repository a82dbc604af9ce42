import type { PodSpec } from '../../../src/contract/pod-spec.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { findPodForHost, type PodRow } from '../../../src/db/pods.ts'
import { decideAction, type PodAction } from '../../../src/domain/pod.ts'
import { type PodDraft, placePod } from '../../../src/services/pod-placement.ts'
import { type Transition, transitPod } from '../../../src/services/pod-transitions.ts'
import { FakeHost } from '../../support/fake-host.ts'
import { createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'

const GPU = 'NVIDIA L4'

function draft(teamId: string, id: string, change: Partial<PodSpec> = {}): PodDraft {
  const spec: PodSpec = {
    container: { image: 'builtin/idle', args: '', diskGb: 10, env: {}, ports: [], registry: null },
    compute: {
      kind: 'gpu',
      typeId: GPU,
      count: 1,
      allowedCudaVersions: [],
      minCudaVersion: null,
      minRamGbPerGpu: null,
      minVcpuPerGpu: null,
    },
    cloud: 'SECURE',
    dataCenterIds: [],
    mounts: {},
    globalNetworking: false,
    onHostLoss: 'WAIT',
    ...change,
  }
  const nowMs = Date.now()
  const links = { templateId: null, networkVolumeId: null, globalVolumeId: null, registryId: null, clusterId: null }
  const state = { status: 'PROVISIONING', version: 1, generation: 1, keepsDisk: false, diskStale: false, hostLost: false } as const
  const live = { statusReason: null, locked: false, ports: [], publicIp: null, startedAtMs: null, changedAtMs: nowMs, createdAtMs: nowMs }
  return { id, teamId, name: 'p', spec, ...state, ...live, ...links, sshSuffix: '0a1b2c3d', pricePerHour: 0.44 }
}

let next = 0
/** A pod on a host of its own. */
async function placed(host: FakeHost): Promise<string> {
  const team = await teamOf(await createAccount())
  const result = await placePod(env, draft(team, `pod${Date.now()}${next++}`), () => [])
  if (!result.ok) throw new Error(JSON.stringify(result.refusals))
  expect(result.pod.hostId).toBe(host.id)
  return result.pod.id
}

async function read(id: string): Promise<PodRow> {
  const pod = await findPodForHost(openDatabase(env.DB), id)
  if (!pod) throw new Error('no such pod')
  return pod
}

async function act(id: string, action: PodAction): Promise<Transition> {
  const pod = await read(id)
  const outcome = decideAction(pod, action, Date.now())
  if (!outcome.ok) throw new Error(outcome.detail)
  return transitPod(env, pod, outcome.change)
}

async function freeGpus(hostId: string): Promise<number> {
  const row = await env.DB.prepare('SELECT free FROM host_gpus WHERE host_id = ?').bind(hostId).first<{ free: number }>()
  return row?.free ?? -1
}

const oneGpu = (count = 1) => ({
  gpus: [{ typeId: GPU, count, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
})

describe('the life of a pod', () => {
  it('[POD-2] [POD-14] runs, stops, starts on the same disk, restarts with a new one, is terminated; each interval is charged once', async () => {
    const host = await FakeHost.join(oneGpu())
    const id = await placed(host)
    const first = await host.waitFor((w) => w.id === `${id}-1`)
    expect(first).toMatchObject({ kind: 'pod', desired: 'running', image: 'builtin/idle' })
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(first.id, { state: 'starting' })
    expect(await read(id)).toMatchObject({ status: 'STARTING', startedAtMs: null })
    await host.report(first.id, { state: 'running', ports: [{ private: 22, public: 30022, type: 'tcp' }] })
    expect(await read(id)).toMatchObject({ status: 'RUNNING', ports: [{ private: 22, public: 30022, type: 'tcp' }] })

    expect(await act(id, 'stop')).toBe('done')
    await host.waitFor((w) => w.id === first.id && w.desired === 'held')
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(first.id, { state: 'exited', exitCode: 0 })
    expect(await freeGpus(host.id)).toBe(1)

    expect(await act(id, 'start')).toBe('done')
    expect(await freeGpus(host.id)).toBe(0)
    const second = await host.waitFor((w) => w.id === `${id}-2`)
    expect(second).toMatchObject({ desired: 'running', replaces: [first.id], keepDisk: true })
    await host.report(second.id, { state: 'running' })
    await host.report(first.id, { state: 'gone' })
    expect(await read(id)).toMatchObject({ status: 'RUNNING', generation: 2 })

    expect(await act(id, 'restart')).toBe('done')
    const third = await host.waitFor((w) => w.id === `${id}-3`)
    expect(third).toMatchObject({ replaces: [second.id] })
    expect(third.keepDisk).toBeUndefined()
    await host.waitFor((w) => w.id === second.id && w.desired === 'stopped')
    await host.report(second.id, { state: 'gone' })
    await host.report(third.id, { state: 'running' })

    expect(await act(id, 'terminate')).toBe('done')
    await host.waitFor((w) => w.id === third.id && w.desired === 'stopped' && w.wipe === true)
    await host.report(third.id, { state: 'gone' })
    expect(await freeGpus(host.id)).toBe(1)
    const usage = await env.DB.prepare('SELECT started_at AS s, ended_at AS e FROM pod_usage WHERE pod_id = ? ORDER BY s').bind(id).all()
    expect(usage.results).toHaveLength(3)
    host.leave()
  })

  it('[POD-17] compute that somebody else took meanwhile is not given twice', async () => {
    const host = await FakeHost.join(oneGpu())
    const id = await placed(host)
    await host.waitFor((w) => w.id === `${id}-1`)
    await act(id, 'stop')
    await host.report(`${id}-1`, { state: 'exited' })
    const other = await placed(host)
    expect(await act(id, 'start')).toBe('noRoom')
    expect(await read(id)).toMatchObject({ status: 'EXITED', generation: 1 })
    expect((await read(other)).status).toBe('PROVISIONING')
    host.leave()
  })
})
