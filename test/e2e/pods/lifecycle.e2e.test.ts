import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { BUILD_TIMEOUT_MS, busyboxImage, sshPodImage } from '../support/agent/worker-image.ts'
import { SshClient } from '../support/clients/ssh.ts'
import { docker } from '../support/machines/docker.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { callPlane, eventually } from '../support/plane/plane.ts'
import { type ContainerFacts, podBody, TestPod } from '../support/plane/pods.ts'
import { readUsage } from '../support/plane/usage.ts'

// Pods in real containers, from create to terminate, over the public API alone.

/** The only GPU of its kind, so that only this pod uses the first host's capacity. */
const LONE_GPU = 'NVIDIA A40'
const FAR_GPU = 'NVIDIA H200'
const DATA_CENTER = 'LOCAL-1'
const SECOND_MS = 1_000
const PUBLIC_IP = '127.0.0.1'

describe('pods in containers', () => {
  let fleet: Fleet
  let image: string
  let sshImage: string
  const volumes = mkdtempSync(join(tmpdir(), 'podplane-e2e-volumes-'))
  const directories = { persistent: join(volumes, 'persistent'), network: join(volumes, 'network'), global: join(volumes, 'global') }

  beforeAll(async () => {
    image = await busyboxImage()
    sshImage = await sshPodImage()
    for (const directory of Object.values(directories)) mkdirSync(directory)
    const args = ['--network-volumes', directories.network, '--global-volumes', directories.global, '--public-ip', PUBLIC_IP]
    fleet = await Fleet.start({
      hosts: {
        near: { simulateGpus: `NVIDIA L4:14,${LONE_GPU}:1`, volumeDir: directories.persistent, args },
        far: { simulateGpus: `${FAR_GPU}:2`, args },
      },
    })
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    await fleet?.stop()
    rmSync(volumes, { recursive: true, force: true })
  })

  test.concurrent('[POD-2][POD-13][POD-14] one life: create, change, restart, stop, start, terminate', async () => {
    const { plane } = fleet
    const mounts = { persistent: { size: 10, path: '/data' } }
    const members = { gpu: { id: LONE_GPU, count: 1 }, mounts, env: { GREETING: 'first' } }
    const pod = await TestPod.create(plane, podBody(image, STAY_SCRIPT, members))
    expect(pod.created).toMatchObject({ status: 'PROVISIONING', actions: ['stop', 'terminate'], startedAt: null, runtime: null })
    const log = pod.log()

    // The pod runs, matches the engine's view, and holds its GPU.
    const running = await pod.reaches('RUNNING')
    const first = await pod.container()
    expect(running.actions).toEqual(['stop', 'restart', 'terminate'])
    expect(running.cost).toBeGreaterThan(0)
    expect(Math.abs(Date.parse(running.startedAt ?? '') - Date.parse(first.State.StartedAt))).toBeLessThanOrEqual(SECOND_MS)
    expect(running.runtime?.uptime).toBeGreaterThanOrEqual(0)
    expect(await fleet.freeGpus('near', LONE_GPU)).toBe(0)
    await log.waitFor((lines) => lines.includes('hello first'))
    await pod.shell('echo kept >/data/file; echo gone >/scratch')

    // A changed environment: a new container with an empty disk, on the same volume.
    const changedAt = await between(() => pod.patch({ env: { GREETING: 'second' } }))
    await pod.reaches('RUNNING')
    const second = await pod.container()
    expect(second.Id).not.toBe(first.Id)
    expect(second.Config.Env).toContain('GREETING=second')
    await log.waitFor((lines) => lines.includes('hello second'))
    expect(await filesOf(pod)).toEqual(['/data/file: kept', '/scratch: none'])

    // A restart wipes the container disk too (contract), and retains the volume.
    await pod.shell('echo gone >/scratch')
    const restartedAt = await between(() => pod.act('restart'))
    await pod.reaches('RUNNING')
    const third = await pod.container()
    expect(await filesOf(pod)).toEqual(['/data/file: kept', '/scratch: none'])

    // Stopped: the GPU is free for others, and all written data is retained.
    await pod.shell('echo stays >/scratch')
    const stoppedAt = await between(() => pod.act('stop'))
    expect(await pod.get()).toMatchObject({ status: 'EXITED', actions: ['start', 'terminate'], cost: 0, runtime: null, startedAt: null })
    expect((await pod.isDown()).State.ExitCode).toBe(0)
    await fleet.hasFreeGpus('near', LONE_GPU, 1)

    // The host's capacity is used by another pod: the documented refusal, until there is capacity again.
    const tenant = await TestPod.run(plane, podBody(image, STAY_SCRIPT, { gpu: { id: LONE_GPU, count: 1 } }))
    await expect(pod.act('start')).rejects.toThrow('There are not enough free GPUs on the host machine to start this pod.')
    expect(await pod.get()).toMatchObject({ status: 'EXITED' })
    await tenant.terminate()
    await fleet.hasFreeGpus('near', LONE_GPU, 1)

    // Started again: the container disk and the volume are as they were left.
    await pod.act('start')
    await pod.reaches('RUNNING')
    const fourth = await pod.container()
    expect(await filesOf(pod)).toEqual(['/data/file: kept', '/scratch: stays'])
    expect(await fleet.freeGpus('near', LONE_GPU)).toBe(0)

    // Terminated: nothing is left, anywhere.
    expect(existsSync(join(directories.persistent, pod.id))).toBe(true)
    const endedAt = await between(() => pod.act('terminate'))
    expect(await pod.isUnknown()).toBe(true)
    await pod.isGone()
    await fleet.hasFreeGpus('near', LONE_GPU, 1)
    await eventually('the volume is gone', 10_000, async () => !existsSync(join(directories.persistent, pod.id)))
    expect(await docker('images', '--quiet', '--filter', `reference=podplane-disk:${pod.id}-*`)).toBe('')

    // One log over all its containers; one usage row for each time that it ran.
    const greetings = () => log.lines().filter((line) => line.startsWith('hello '))
    await eventually('the last of its log has come', 10_000, async () => greetings().length >= 4)
    expect(greetings()).toEqual(['hello first', 'hello second', 'hello second', 'hello second'])
    log.close()
    expectIntervals(readUsage(plane, pod.id), [first, second, third, fourth], [changedAt, restartedAt, stoppedAt, endedAt])
  })

  test.concurrent('[POD-20][ACC-1][NET-2] the OpenSSH client gets in with the account key, by the command that the pod shows', async () => {
    const { plane } = fleet
    const client = await SshClient.create()
    const file = join(volumes, 'copied.txt')
    writeFileSync(file, 'over scp\n')
    try {
      await callPlane(plane, plane.apiKey, 'PUT', '/v2/account/ssh-keys', { keys: [client.publicKey] })
      const body = { name: 'ssh', image: sshImage, disk: 1, gpu: { id: 'NVIDIA L4', count: 1 }, ports: ['22/tcp'], startSsh: true }
      const pod = await TestPod.create(plane, body)
      expect(pod.created.ssh.direct).toBeNull()
      const log = pod.log()
      const { ssh, runtime } = await pod.reaches('RUNNING')
      await log.waitFor((lines) => lines.some((line) => line.includes('pod is ready to use')))
      log.close()
      const direct = ssh.direct
      if (direct === null) throw new Error('the pod shows no direct SSH address')
      expect(direct).toEqual({ host: PUBLIC_IP, port: direct.port, username: 'root', command: `ssh root@${PUBLIC_IP} -p ${direct.port}` })
      expect(runtime?.ports).toContainEqual({ private: 22, public: direct.port, type: 'tcp', ip: PUBLIC_IP })

      const printed = await client.run(direct.command, 'echo "$RUNPOD_POD_ID $RUNPOD_TCP_PORT_22 $RUNPOD_PUBLIC_IP"')
      expect(printed).toBe(`${pod.id} ${direct.port} ${PUBLIC_IP}`)
      await client.copy(file, direct, '/root/copied.txt')
      expect(await client.run(direct.command, 'cat /root/copied.txt')).toBe('over scp')

      // A client without the key is refused.
      const otherTenant = await SshClient.create()
      await expect(otherTenant.run(direct.command, 'true')).rejects.toThrow(/Permission denied/)
      otherTenant.remove()

      // A stopped pod has no address; started again, it has the same host key and files.
      await pod.act('stop')
      expect((await pod.get()).ssh.direct).toBeNull()
      await pod.isDown()
      await pod.act('start')
      const again = await pod.reaches('RUNNING')
      await eventually('its SSH server answers', 30_000, async () => {
        return await client.run(again.ssh.direct?.command ?? '', 'cat /root/copied.txt').then(
          (text) => text === 'over scp',
          () => false,
        )
      })
      await pod.terminate()
    } finally {
      client.remove()
      rmSync(file, { force: true })
    }
  })

  test.concurrent('[POD-62] with stopAfter its container ends at that second; with terminateAfter nothing is left of it', async () => {
    const timeIn = (ms: number) => `${new Date(Math.ceil((Date.now() + ms) / SECOND_MS) * SECOND_MS).toISOString().slice(0, 19)}Z`
    const pod = await TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT))
    const [stopAfter, terminateAfter] = [timeIn(4 * SECOND_MS), timeIn(12 * SECOND_MS)]
    await pod.patch({ stopAfter, terminateAfter })
    const stopped = await pod.reaches('EXITED')
    expect(stopped).toMatchObject({ statusReason: `stopped by stopAfter ${stopAfter}`, cost: 0, runtime: null })
    const { State: state } = await pod.isDown()
    const lateMs = Date.parse(state.FinishedAt) - Date.parse(stopAfter)
    // Not before, and at most as late as a busy machine takes to end a container.
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(10 * SECOND_MS)
    await eventually('it is terminated', 30_000, () => pod.isUnknown())
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(terminateAfter))
    await pod.isGone()
  })

  test.concurrent('[MNT-1][VOL-4][GLV-1] a network volume is shared by pods of two hosts, a global one joins it, and both outlive them', async () => {
    const { plane } = fleet
    const create = (path: string, body: unknown) => callPlane<{ id: string }>(plane, plane.apiKey, 'POST', path, body)
    const network = await create('/v2/network-volumes', { name: 'shared', size: 10, dataCenter: DATA_CENTER })
    const global = await create('/v2/global-volumes', { name: 'models' })
    const mounts = { network: [{ volumeId: network.id, path: '/shared' }], global: [{ volumeId: global.id }] }
    const [near, far] = await Promise.all([
      TestPod.run(plane, podBody(image, STAY_SCRIPT, { mounts })),
      TestPod.run(plane, podBody(image, STAY_SCRIPT, { mounts, gpu: { id: FAR_GPU, count: 1 } })),
    ])
    expect(await fleet.hostOf((await near.container()).Config.Labels)).toBe('near')
    expect(await fleet.hostOf((await far.container()).Config.Labels)).toBe('far')
    expect(near.created.mounts).toEqual({ ...mounts, global: [{ volumeId: global.id, path: '/workspace-global' }] })

    await near.shell('echo from near >/shared/a; echo model >/workspace-global/m')
    expect(await far.shell('busybox cat /shared/a /workspace-global/m; echo from far >>/shared/a; echo $RUNPOD_VOLUME_ID')).toBe(
      `from near\nmodel\n${network.id}`,
    )
    expect(await near.shell('busybox cat /shared/a')).toBe('from near\nfrom far')

    // A volume in use is not deleted. Afterwards it still exists with all written data.
    await expect(callPlane(plane, plane.apiKey, 'DELETE', `/v2/network-volumes/${network.id}`)).rejects.toThrow(/^DELETE .*: 400 /)
    await Promise.all([near.terminate(), far.terminate()])
    expect(readFileSync(join(directories.network, network.id, 'a'), 'utf8')).toBe('from near\nfrom far\n')
    expect(readdirSync(join(directories.global, global.id))).toEqual(['m'])
    await callPlane(plane, plane.apiKey, 'DELETE', `/v2/network-volumes/${network.id}`)
  })
})

/** The times at which a call was sent and answered. */
async function between(call: () => Promise<unknown>): Promise<{ fromMs: number; toMs: number }> {
  const fromMs = Date.now()
  await call()
  return { fromMs, toMs: Date.now() }
}

async function filesOf(pod: TestPod): Promise<string[]> {
  const show = (file: string) => `echo "${file}: $(busybox cat ${file} 2>/dev/null || echo none)"`
  return (await pod.shell(['/data/file', '/scratch'].map(show).join('; '))).split('\n')
}

/** Expects each interval to begin with the container's own start and to end with the request of its end. */
function expectIntervals(
  rows: readonly { startedAt: number; endedAt: number }[],
  containers: readonly ContainerFacts[],
  ends: readonly { fromMs: number; toMs: number }[],
): void {
  expect(rows).toHaveLength(containers.length)
  for (const [index, row] of rows.entries()) {
    const startedAt = Date.parse(containers[index]?.State.StartedAt ?? '')
    const { fromMs = 0, toMs = 0 } = ends[index] ?? {}
    expect(Math.abs(row.startedAt - startedAt), `start of interval ${index}`).toBeLessThanOrEqual(SECOND_MS)
    expect(row.endedAt, `end of interval ${index}`).toBeGreaterThanOrEqual(fromMs)
    expect(row.endedAt, `end of interval ${index}`).toBeLessThanOrEqual(toMs)
  }
}
