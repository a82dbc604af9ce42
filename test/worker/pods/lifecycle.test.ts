import { FakeHost } from '../../support/fake-host.ts'
import { describe, env, expect, it } from '../../support/harness.ts'
import { actOnPod, freeGpus, oneGpu, placePodOn, readPod } from '../../support/pods.ts'

describe('the life of a pod', () => {
  it('[POD-2] [POD-14] runs, stops, starts on the same disk, restarts with a new one, is terminated; each interval is charged once', async () => {
    const host = await FakeHost.join(oneGpu())
    const id = await placePodOn(host)
    const first = await host.waitFor((w) => w.id === `${id}-1`)
    expect(first).toMatchObject({ kind: 'pod', desired: 'running', image: 'builtin/idle' })
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(first.id, { state: 'starting' })
    expect(await readPod(id)).toMatchObject({ status: 'STARTING', startedAtMs: null })
    await host.report(first.id, { state: 'running', ports: [{ private: 22, public: 30022, type: 'tcp' }] })
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', ports: [{ private: 22, public: 30022, type: 'tcp' }] })

    expect(await actOnPod(id, 'stop')).toBe('done')
    await host.waitFor((w) => w.id === first.id && w.desired === 'held')
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(first.id, { state: 'exited', exitCode: 0 })
    expect(await freeGpus(host.id)).toBe(1)

    expect(await actOnPod(id, 'start')).toBe('done')
    expect(await freeGpus(host.id)).toBe(0)
    const second = await host.waitFor((w) => w.id === `${id}-2`)
    expect(second).toMatchObject({ desired: 'running', replaces: [first.id], keepDisk: true })
    await host.report(second.id, { state: 'running' })
    await host.report(first.id, { state: 'gone' })
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', generation: 2 })

    expect(await actOnPod(id, 'restart')).toBe('done')
    const third = await host.waitFor((w) => w.id === `${id}-3`)
    expect(third).toMatchObject({ replaces: [second.id] })
    expect(third.keepDisk).toBeUndefined()
    await host.waitFor((w) => w.id === second.id && w.desired === 'stopped')
    await host.report(second.id, { state: 'gone' })
    await host.report(third.id, { state: 'running' })

    expect(await actOnPod(id, 'terminate')).toBe('done')
    await host.waitFor((w) => w.id === third.id && w.desired === 'stopped' && w.wipe === true)
    await host.report(third.id, { state: 'gone' })
    expect(await freeGpus(host.id)).toBe(1)
    const usage = await env.DB.prepare('SELECT started_at AS s, ended_at AS e FROM pod_usage WHERE pod_id = ? ORDER BY s').bind(id).all()
    expect(usage.results).toHaveLength(3)
    host.leave()
  })

  it('[POD-17] compute that somebody else took meanwhile is not given twice', async () => {
    const host = await FakeHost.join(oneGpu())
    const id = await placePodOn(host)
    await host.waitFor((w) => w.id === `${id}-1`)
    await actOnPod(id, 'stop')
    await host.report(`${id}-1`, { state: 'exited' })
    const other = await placePodOn(host)
    expect(await actOnPod(id, 'start')).toBe('noRoom')
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', generation: 1 })
    expect((await readPod(other)).status).toBe('PROVISIONING')
    host.leave()
  })
})
