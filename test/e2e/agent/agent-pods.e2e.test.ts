import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { waitUntil } from '../../support/time.ts'
import { freshPodAgents, IDLE, type PodAgent } from '../support/agent/pod-agent.ts'
import { docker } from '../support/machines/docker.ts'
import { makeTmpfs, removeMounted } from '../support/machines/tmpfs.ts'
import { pickPorts } from '../support/plane/ports.ts'

// Pods on a real container engine: a real agent, and a played plane that sends the desired state.

let agent: PodAgent
freshPodAgents((fresh) => {
  agent = fresh
})

describe('the container disk', () => {
  test('[HOST-50][HOST-52] is kept while a pod is held, is used by its next container, and leaves nothing behind', async () => {
    await agent.start()
    const first = agent.workload(1, IDLE)
    agent.plane.setDesired(first)
    await agent.reaches(1, 'running')
    await agent.shell(1, 'echo kept > /file; echo deleted > /gone')
    agent.plane.setDesired({ ...first, desired: 'held' })
    expect(await agent.reaches(1, 'exited')).toMatchObject({ exitCode: 0, reason: 'exited with code 0' })
    expect(await agent.inspect(1, '{{.State.Status}}')).toBe('exited')

    let previous = agent.workload(1, IDLE, { desired: 'held' })
    for (const generation of [2, 3]) {
      const env = { GENERATION: String(generation) }
      const next = agent.workload(generation, IDLE, { env, replaces: [previous.id], keepDisk: true, ports: ['80/http'] })
      agent.plane.setDesired(previous, next)
      await agent.reaches(generation, 'running')
      await agent.reaches(generation - 1, 'gone')
      expect(await agent.shell(generation, 'busybox cat /file; echo $GENERATION; busybox rm -f /gone; busybox ls /')).toMatch(
        new RegExp(`^kept\n${generation}\n`),
      )
      expect(await agent.shell(generation, 'busybox ls /')).not.toContain('gone')
      const { containers, images } = await agent.leftovers()
      expect(containers).toEqual([agent.container(generation)])
      expect(images).toEqual([`podplane-disk:${agent.id(generation)}`])
      previous = { ...next, desired: 'held' }
      agent.plane.setDesired(previous)
      await agent.reaches(generation, 'exited')
    }
    agent.plane.setDesired({ ...previous, desired: 'stopped', wipe: true })
    await agent.reaches(3, 'gone')
    expect(await agent.leftovers()).toEqual({ containers: [], images: [] })
    expect(agent.plane.states(agent.id(1))).toEqual(['starting', 'running', 'exited', 'gone'])
  })

  test('[HOST-51] is wiped by a restart, which waits for the end of the previous container', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE, { ports: ['22/tcp'] }))
    const { ports } = await agent.reaches(1, 'running')
    await agent.shell(1, 'echo x > /file')
    const next = agent.workload(2, IDLE, { replaces: [agent.id(1)], ports: ['22/tcp'] })
    agent.plane.setDesired(agent.workload(1, IDLE, { desired: 'stopped' }), next)
    const restarted = await agent.reaches(2, 'running')
    expect(await agent.shell(2, 'busybox ls /')).not.toContain('file')
    expect(restarted.ports).toEqual(ports)
    const [gone, started] = [agent.plane.last(agent.id(1)), agent.plane.reports.find((report) => report.workloadId === agent.id(2))]
    expect(gone?.state).toBe('gone')
    expect(started?.at).toBeGreaterThanOrEqual(gone?.at ?? Number.POSITIVE_INFINITY)
    expect((await agent.leftovers()).containers).toEqual([agent.container(2)])
  })

  test('[HOST-52] a start that fails leaves the previous container untouched; the next one still has its data', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE))
    await agent.reaches(1, 'running')
    await agent.shell(1, 'echo kept > /file')
    const first = agent.workload(1, IDLE, { desired: 'held' })
    agent.plane.setDesired(first)
    await agent.reaches(1, 'exited')
    const broken = agent.workload(2, '', { entrypoint: ['/no/such/program'], replaces: [first.id], keepDisk: true })
    agent.plane.setDesired(first, broken)
    expect((await agent.reaches(2, 'error')).reason).toContain('/no/such/program')
    expect(await agent.leftovers()).toEqual({ containers: [agent.container(1)], images: [] })
    const third = agent.workload(3, IDLE, { replaces: [agent.id(2), agent.id(1)], keepDisk: true })
    agent.plane.setDesired(first, { ...broken, desired: 'held' }, third)
    await agent.reaches(3, 'running')
    expect(await agent.shell(3, 'busybox cat /file')).toBe('kept')
    await agent.reaches(2, 'gone')
    await agent.reaches(1, 'gone')
  })

  test('[HOST-52] keeps the volumes that the image itself declares', async () => {
    const withVolume = `podplane-e2e/volume:${agent.pod}`
    await docker('commit', '--change', 'VOLUME /data', await docker('create', '--name', `base-${agent.pod}`, agent.image), withVolume)
    try {
      await agent.start()
      agent.plane.setDesired(agent.workload(1, IDLE, { image: withVolume }))
      await agent.reaches(1, 'running')
      await agent.shell(1, 'echo kept > /data/file')
      const held = agent.workload(1, IDLE, { image: withVolume, desired: 'held' })
      agent.plane.setDesired(held)
      await agent.reaches(1, 'exited')
      agent.plane.setDesired(held, agent.workload(2, IDLE, { image: withVolume, replaces: [held.id], keepDisk: true }))
      await agent.reaches(1, 'gone')
      expect(await agent.shell(2, 'busybox cat /data/file')).toBe('kept')
      const volume = await agent.inspect(2, '{{range .Mounts}}{{.Name}}{{end}}')
      agent.plane.setDesired(agent.workload(2, IDLE, { image: withVolume, desired: 'stopped' }))
      await agent.reaches(2, 'gone')
      expect(await docker('volume', 'ls', '--quiet')).not.toContain(volume)
    } finally {
      await docker('rm', `base-${agent.pod}`)
      await docker('rmi', '--force', withVolume)
    }
  })
})

describe('volumes', () => {
  test('[HOST-53] a persistent one outlives its containers and is removed with the pod', async () => {
    await agent.start()
    const mounts = [agent.volume()]
    agent.plane.setDesired(agent.workload(1, IDLE, { mounts }))
    await agent.reaches(1, 'running')
    await agent.shell(1, 'echo kept > /workspace/file')
    agent.plane.setDesired(
      agent.workload(1, IDLE, { desired: 'stopped', mounts }),
      agent.workload(2, IDLE, { replaces: [agent.id(1)], mounts }),
    )
    await agent.reaches(2, 'running')
    expect(await agent.shell(2, 'busybox cat /workspace/file')).toBe('kept')
    const path = join(agent.stateDir, 'volumes', agent.pod)
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('kept\n')
    agent.plane.setDesired(agent.workload(2, IDLE, { desired: 'stopped', wipe: true, mounts }))
    await agent.reaches(2, 'gone')
    expect(existsSync(path)).toBe(false)
  })

  test('[HOST-54] network and global volumes are directories that pods share, and are retained', async () => {
    const shared = mkdtempSync(join(tmpdir(), 'podplane-shared-'))
    mkdirSync(join(shared, 'net'))
    mkdirSync(join(shared, 'global'))
    try {
      await agent.start(['--network-volumes', join(shared, 'net'), '--global-volumes', join(shared, 'global')])
      const mounts = [
        { kind: 'network' as const, id: 'vol1', path: '/net' },
        { kind: 'global' as const, id: 'bucket1', path: '/workspace-global' },
      ]
      agent.plane.setDesired(agent.workload(1, IDLE, { mounts }))
      await agent.reaches(1, 'running')
      await agent.shell(1, 'echo a > /net/file; echo b > /workspace-global/file')
      agent.plane.setDesired(agent.workload(1, IDLE, { mounts, desired: 'stopped', wipe: true }))
      await agent.reaches(1, 'gone')
      expect(readFileSync(join(shared, 'net/vol1/file'), 'utf8')).toBe('a\n')
      expect(readFileSync(join(shared, 'global/bucket1/file'), 'utf8')).toBe('b\n')
      expect(statSync(join(shared, 'net/vol1')).mode & 0o777).toBe(0o777)
    } finally {
      rmSync(shared, { recursive: true, force: true })
    }
  })

  test('[HOST-54] a host without such volumes reports that', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE, { mounts: [{ kind: 'network', id: 'vol1', path: '/net' }] }))
    expect((await agent.reaches(1, 'error')).reason).toBe('this host offers no network volumes; start its agent with --network-volumes')
    agent.plane.setDesired(agent.workload(2, IDLE, { mounts: [{ kind: 'global', id: 'vol1', path: '/net' }] }))
    expect((await agent.reaches(2, 'error')).reason).toBe('this host offers no global volumes; start its agent with --global-volumes')
    agent.plane.setDesired(agent.workload(3, IDLE, { mounts: [agent.volume('/a/../etc')] }))
    expect((await agent.reaches(3, 'error')).reason).toBe('the mount path "/a/../etc" is not an absolute path of a directory below /')
  })

  test('[HOST-55] a full disk: the pod sees it, the next start reports it, and free space lets it start again', async () => {
    const small = await makeTmpfs(2)
    try {
      await agent.start(['--volume-dir', small])
      const mounts = [agent.volume()]
      agent.plane.setDesired(
        agent.workload(1, `busybox dd if=/dev/zero of=/workspace/big bs=64k; echo "dd: $?"; ${IDLE}`, { mounts, log: LOG }),
      )
      await agent.reaches(1, 'running')
      await waitUntil('the full disk in the log', () => agent.plane.log(agent.id(1)).some((line) => line.includes('No space left')), 30_000)
      agent.plane.setDesired(agent.workload(1, IDLE, { desired: 'held' }))
      await agent.reaches(1, 'exited')
      const held = agent.workload(1, IDLE, { desired: 'held', mounts })
      agent.plane.setDesired(held, agent.workload(2, IDLE, { mounts, replaces: [held.id], keepDisk: true }))
      expect((await agent.reaches(2, 'error')).reason).toBe(
        `no space is left on this host: the file system of the volume directory is full`,
      )
      rmSync(join(small, agent.pod, 'big'))
      writeFileSync(join(small, agent.pod, 'small'), 'x')
      const third = agent.workload(3, IDLE, { mounts, replaces: [agent.id(2), held.id], keepDisk: true })
      agent.plane.setDesired(held, agent.workload(2, IDLE, { desired: 'held' }), third)
      await agent.reaches(3, 'running')
    } finally {
      await agent.end('SIGKILL')
      await docker('rm', '--force', agent.container(1), agent.container(3)).catch(() => {})
      await removeMounted(small)
    }
  })
})

const LOG = { kind: 'pod' as const, ownerId: 'pod', grant: 'g' }

describe('ports', () => {
  test('[HOST-56][NET-4][ENV-1][LOG-5] are from the range, shown to the container and to the plane, and the same after a stop', async () => {
    await agent.start(['--port-range', '19100-19180', '--public-ip', '203.0.113.7'])
    const ports = ['22/tcp', '8888/http', '70000/tcp']
    const change = { ports, platformEnv: { RUNPOD_PUBLIC_IP: '{{public_ip}}' }, log: LOG }
    agent.plane.setDesired(agent.workload(1, IDLE, change))
    const running = await agent.reaches(1, 'running')
    const [ssh, http, symmetric] = running.ports ?? []
    expect(running.ports).toMatchObject([{ private: 22, type: 'tcp' }, { private: 8_888, type: 'http' }, { type: 'tcp' }])
    expect(symmetric?.private).toBe(symmetric?.public)
    for (const port of [ssh, http, symmetric]) expect(port?.public).toSatisfy((number) => number >= 19_100 && number <= 19_180)
    const env = (await agent.shell(1, 'busybox env')).split('\n')
    expect(env).toContain(`RUNPOD_TCP_PORT_22=${ssh?.public}`)
    expect(env).toContain(`RUNPOD_TCP_PORT_70000=${symmetric?.public}`)
    expect(env).toContain('RUNPOD_PUBLIC_IP=203.0.113.7')
    expect(env.filter((line) => line.startsWith('RUNPOD_TCP_PORT_'))).toHaveLength(2)
    expect(await agent.inspect(1, `{{(index (index .NetworkSettings.Ports "${symmetric?.private}/tcp") 0).HostPort}}`)).toBe(
      String(symmetric?.public),
    )
    const held = agent.workload(1, IDLE, { ...change, desired: 'held' })
    agent.plane.setDesired(held)
    await agent.reaches(1, 'exited')
    agent.plane.setDesired(held, agent.workload(2, IDLE, { ...change, replaces: [held.id], keepDisk: true }))
    expect((await agent.reaches(2, 'running')).ports).toEqual(running.ports)
    const received = `[ports: 22/tcp on ${ssh?.public}, 8888/http on ${http?.public}, ${symmetric?.private}/tcp on ${symmetric?.public}]`
    await waitUntil('the log', () => agent.plane.log(agent.id(2)).length === 4, 30_000)
    const begun = [`[creating from image ${agent.image}]`, '[started]', received]
    expect(agent.plane.log(agent.id(1))).toEqual([...begun, '[stopping, with 2 s of grace]', '[exited with code 0]'])
    expect(agent.plane.log(agent.id(2))).toEqual(['[starting again with the kept container disk]', ...begun])
  })

  test('[HOST-57] a port in use is skipped; when none is left the reason names it', async () => {
    const server = createServer()
    const first = await pickPorts(2)
    await new Promise<void>((resolve) => server.listen(first, resolve))
    try {
      // With untrusted tenants an account would get half of them.
      await agent.start(['--port-range', `${first}-${first + 1}`, '--trusted-tenants'])
      agent.plane.setDesired(agent.workload(1, IDLE, { ports: ['80/tcp'] }))
      expect((await agent.reaches(1, 'running')).ports).toEqual([{ private: 80, public: first + 1, type: 'tcp' }])
      agent.plane.setDesired(agent.workload(1, IDLE, { ports: ['80/tcp'] }), agent.workload(2, IDLE, { ports: ['80/tcp'] }))
      expect((await agent.reaches(2, 'error')).reason).toBe(
        `port ${first} is already taken on this host, and no other of ${first}-${first + 1} is free`,
      )
      expect((await agent.leftovers()).containers).toEqual([agent.container(1)])
    } finally {
      server.close()
    }
  })
})

describe('endings', () => {
  test('[HOST-60] a program that fails is exited with its code, its last lines and the time of the container', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, 'echo something broke >&2; exit 1', { log: LOG }))
    const exited = await agent.reaches(1, 'exited')
    expect(exited).toMatchObject({ exitCode: 1, reason: 'exited with code 1: something broke' })
    expect(Math.abs(exited.at - Date.parse(await agent.inspect(1, '{{.State.FinishedAt}}')))).toBeLessThanOrEqual(1)
    const running = agent.plane.reports.find((report) => report.state === 'running')
    expect(Math.abs((running?.at ?? 0) - Date.parse(await agent.inspect(1, '{{.State.StartedAt}}')))).toBeLessThanOrEqual(1)
    await waitUntil('the end of the log', () => agent.plane.log(agent.id(1)).at(-1)?.startsWith('[exited'))
    expect(agent.plane.log(agent.id(1))).toEqual([
      `[creating from image ${agent.image}]`,
      '[started]',
      'something broke',
      '[exited with code 1: something broke]',
    ])
  })

  test('an image that does not exist is an error, and leaves nothing', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE, { image: '127.0.0.1:1/no/such:image' }))
    expect((await agent.reaches(1, 'error')).reason).toMatch(/^image pull failed: /)
    expect(agent.plane.states(agent.id(1))).toEqual(['pulling', 'error'])
  })

  test('[HOST-59] the disk of another pod is no image, by name or by the beginning of its id', async () => {
    await agent.start()
    const id = (await docker('inspect', '--format', '{{.Id}}', agent.image)).slice('sha256:'.length)
    agent.plane.setDesired(
      agent.workload(1, IDLE, { image: `podplane-disk:${agent.id(9)}` }),
      agent.workload(2, IDLE, { image: id.slice(0, 12) }),
      agent.workload(3, IDLE, { image: `docker.io/library/podplane-disk:${agent.id(9)}` }),
    )
    for (const generation of [1, 2, 3]) expect((await agent.reaches(generation, 'error')).reason).toMatch(/^image pull failed: /)
  })

  test('a container that is removed by hand is exited, also while it is held', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE))
    await agent.reaches(1, 'running')
    await docker('rm', '--force', agent.container(1))
    expect((await agent.reaches(1, 'exited')).reason).toMatch(/removed externally|killed by signal SIGKILL/)
    const held = agent.workload(1, IDLE, { desired: 'held' })
    agent.plane.setDesired(held, agent.workload(2, IDLE, { replaces: [held.id], keepDisk: true }))
    await agent.reaches(2, 'running')
    await agent.reaches(1, 'gone')
  })
})

describe('the agent', () => {
  test('[HOST-61] is killed: the next one adopts the container as it is, with its ports, and reports an exit with its real time', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE, { ports: ['80/tcp'] }), agent.workload(2, IDLE))
    const before = await agent.reaches(1, 'running')
    await agent.reaches(2, 'running')
    const started = await agent.inspect(1, '{{.State.StartedAt}}')
    await agent.end('SIGKILL')
    await docker('stop', '--time', '5', agent.container(2))
    const finished = Date.parse(await agent.inspect(2, '{{.State.FinishedAt}}'))
    agent.plane.messages.length = 0
    await agent.start()
    const exited = await agent.reaches(2, 'exited')
    expect(Math.abs(exited.at - finished)).toBeLessThanOrEqual(1)
    const hello = await waitUntil('hello', () => agent.plane.messages.find((message) => message.type === 'hello'), 30_000)
    expect(hello.workloads.find((report) => report.workloadId === agent.id(1))).toMatchObject({ state: 'running', ports: before.ports })
    expect(await agent.inspect(1, '{{.State.StartedAt}}')).toBe(started)
    expect(agent.plane.states(agent.id(1))).toEqual(['starting', 'running'])
  })

  test('[HOST-61] ends with --on-exit stop: pods are stopped and kept, and start again with their disk', async () => {
    await agent.start(['--on-exit', 'stop'])
    agent.plane.setDesired(agent.workload(1, IDLE))
    await agent.reaches(1, 'running')
    await agent.shell(1, 'echo kept > /file')
    await agent.end('SIGTERM')
    expect(agent.plane.last(agent.id(1))).toMatchObject({ state: 'exited', reason: 'stopped: the host agent ended' })
    const held = agent.workload(1, IDLE, { desired: 'held' })
    agent.plane.setDesired(held, agent.workload(2, IDLE, { replaces: [held.id], keepDisk: true }))
    await agent.start()
    await agent.reaches(2, 'running')
    expect(await agent.shell(2, 'busybox cat /file')).toBe('kept')
  })

  test('[HOST-52] is killed around the hand-over of a disk: nothing is lost, duplicated or left behind', async () => {
    await agent.start()
    agent.plane.setDesired(agent.workload(1, IDLE))
    await agent.reaches(1, 'running')
    await agent.shell(1, 'busybox dd if=/dev/urandom of=/file bs=1M count=64')
    const sum = await agent.shell(1, 'busybox md5sum /file')
    const held = agent.workload(1, IDLE, { desired: 'held' })
    agent.plane.setDesired(held)
    await agent.reaches(1, 'exited')
    // The state after a crash behind the commit, and a disk of an id that the plane does not list.
    await docker('commit', agent.container(1), `podplane-disk:${agent.id(7)}`)
    const next = agent.workload(2, IDLE, { replaces: [held.id], keepDisk: true })
    agent.plane.setDesired(held, next)
    await waitUntil('the hand-over', () => agent.plane.last(agent.id(2))?.state === 'pulling', 30_000)
    await agent.end('SIGKILL')
    // The engine finishes a commit whose caller is gone, unless the request had not been sent yet.
    const made = async () => (await docker('images', '--quiet', `podplane-disk:${next.id}`)) !== ''
    await waitUntil('the commit', made, 5_000, 100).catch(() => undefined)
    await agent.start()
    await waitUntil('an outcome', () => ['running', 'error'].includes(agent.plane.last(agent.id(2))?.state ?? ''), 60_000)
    // Interrupted between intent and start, the container is an error, and the next start has the data.
    const isRunning = agent.plane.last(agent.id(2))?.state === 'running'
    const generation = isRunning ? 2 : 3
    if (!isRunning) {
      const third = agent.workload(3, IDLE, { replaces: [agent.id(2), held.id], keepDisk: true })
      agent.plane.setDesired(held, { ...next, desired: 'held' }, third)
      await agent.reaches(3, 'running')
    }
    await agent.reaches(1, 'gone')
    expect(await agent.shell(generation, 'busybox md5sum /file')).toBe(sum)
    expect(await agent.leftovers()).toEqual({
      containers: [agent.container(generation)],
      images: [`podplane-disk:${agent.id(generation)}`],
    })
  })
})
