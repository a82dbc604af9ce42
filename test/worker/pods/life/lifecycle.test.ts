import { drainPods, loseHostOfPods, returnHostOfPods } from '../../../../src/effects/pods/pod-hosts.ts'
import { podHost } from '../../../../src/effects/pods/with-pod-intents.ts'
import { describe, env, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { act, compute, placed, readPod } from '../../../support/pods/pods.ts'

/** A GPU type that only the hosts of one test have. */
const OTHER = 'NVIDIA A40'

const previous = ({ id }: FakeHost) => podHost(env, id)

describe('the life of a pod', () => {
  it('[POD-2] [POD-14] [POD-34] runs, stops, starts on the same disk, restarts with a new one, is terminated; each interval is charged once', async () => {
    const host = await FakeHost.join(gpus())
    const id = await placed(host)
    const first = await host.waitFor((w) => w.id === `${id}-1`)
    expect(first).toMatchObject({ kind: 'pod', desired: 'running', image: 'acme/idle:1' })
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(first.id, { state: 'starting' })
    expect(await readPod(id)).toMatchObject({ status: 'STARTING', startedAtMs: null })
    await host.report(first.id, { state: 'running', ports: [{ private: 22, public: 30022, type: 'tcp' }] })
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', ports: [{ private: 22, public: 30022, type: 'tcp' }] })

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
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', generation: 2 })

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
    const usage = await env.DB.prepare('SELECT started_at AS s, ended_at AS e FROM usage WHERE workload_id = ? ORDER BY s').bind(id).all()
    expect(usage.results).toHaveLength(3)
    host.leave()
  })

  it('[POD-17] compute that another pod took meanwhile is not given twice', async () => {
    const host = await FakeHost.join(gpus())
    const id = await placed(host)
    await host.waitFor((w) => w.id === `${id}-1`)
    await act(id, 'stop')
    await host.report(`${id}-1`, { state: 'exited' })
    const other = await placed(host)
    expect(await act(id, 'start')).toBe('capacity')
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', generation: 1 })
    expect((await readPod(other)).status).toBe('PROVISIONING')
    host.leave()
  })

  it('[POD-31] a lost host: the pod has the reason, is not charged, and recovers with the same container when the host is back', async () => {
    const host = await FakeHost.join(gpus())
    const id = await placed(host)
    await host.waitFor((w) => w.id === `${id}-1`)
    await host.report(`${id}-1`, { state: 'running' })
    const lastHeardMs = Date.now()
    expect(await loseHostOfPods(env, previous(host), lastHeardMs)).toBe(0)
    const lost = await readPod(id)
    expect(lost).toMatchObject({ status: 'ERROR', hostLost: true, chargedFromMs: null })
    expect(lost.statusReason).toContain('has been silent since')
    expect((await host.waitFor((w) => w.id === `${id}-1`)).desired).toBe('running')
    expect(await freeGpus(host.id)).toBe(0)
    const report = { workloadId: `${id}-1`, state: 'running', exitCode: null, reason: null, at: Date.now(), sequence: 1 } as const
    await returnHostOfPods(env, host.id, [report])
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', hostLost: false, statusReason: null, generation: 1 })
    const usage = await env.DB.prepare('SELECT ended_at AS e FROM usage WHERE workload_id = ?').bind(id).all<{ e: number }>()
    expect(usage.results).toEqual([{ e: lastHeardMs }])
    host.leave()
  })

  it('[POD-31] [POD-32] with REPLACE it continues on another host, and the previous host frees its place when its container is gone', async () => {
    const first = await FakeHost.join(gpus(1, OTHER))
    const id = await placed(first, { onHostLoss: 'REPLACE', compute: compute(OTHER) })
    await first.waitFor((w) => w.id === `${id}-1`)
    await first.report(`${id}-1`, { state: 'running' })
    expect(await loseHostOfPods(env, previous(first), Date.now())).toBe(1)
    expect(await readPod(id)).toMatchObject({ status: 'ERROR', hostLost: true, hostId: first.id })
    const second = await FakeHost.join(gpus(1, OTHER))
    expect(await loseHostOfPods(env, previous(first), Date.now())).toBe(0)
    expect(await readPod(id)).toMatchObject({ status: 'STARTING', hostLost: false, hostId: second.id, generation: 2 })
    expect(await second.waitFor((w) => w.id === `${id}-2`)).toMatchObject({ desired: 'running' })
    await first.waitFor((w) => w.id === `${id}-1` && w.desired === 'stopped')
    expect([await freeGpus(first.id), await freeGpus(second.id)]).toEqual([0, 0])
    await first.report(`${id}-1`, { state: 'gone' })
    expect([await freeGpus(first.id), await freeGpus(second.id)]).toEqual([1, 0])
    await second.report(`${id}-2`, { state: 'running' })
    expect((await readPod(id)).status).toBe('RUNNING')

    const third = await FakeHost.join(gpus(1, OTHER))
    expect(await drainPods(env, previous(second), Date.now())).toBe(0)
    expect((await readPod(id)).hostId).not.toBe(second.id)
    for (const host of [first, second, third]) host.leave()
  })
})
