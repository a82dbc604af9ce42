import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ContainerDisks } from '../../../src/host-agent/docker/container/container-disk.ts'
import { connectDocker } from '../../../src/host-agent/docker/engine/client.ts'
import { FakeRegistry, imageOf, layerOf } from '../../host-agent/support/fake-registry.ts'
import { waitUntil } from '../../support/time.ts'
import { freshPodAgents, IDLE, type PodAgent } from '../support/agent/pod-agent.ts'
import { Registry } from '../support/agent/registry.ts'
import { docker } from '../support/machines/docker.ts'
import { PrivateEngine } from '../support/machines/private-engine.ts'

// The container engine itself: it is restarted, it pulls from a registry, its images get too many layers.

const LOG = { kind: 'pod' as const, ownerId: 'pod', grant: 'g' }

let agent: PodAgent
freshPodAgents((fresh) => {
  agent = fresh
})

describe('the engine is killed and started again', () => {
  test('[HOST-62] with live-restore the containers continue, and the agent continues with them', async () => {
    const engine = new PrivateEngine('--live-restore')
    try {
      await engine.start()
      await engine.load(agent.image)
      await agent.start([], { DOCKER_HOST: engine.address })
      agent.plane.setDesired(agent.workload(1, `${IDLE.replace('sleep 0.1', 'sleep 0.1; n=$((n+1)); echo "line $n"')}`, { log: LOG }))
      await agent.reaches(1, 'running')
      const started = await engine.docker('inspect', '--format', '{{.State.StartedAt}}', agent.container(1))
      await engine.kill('SIGKILL')
      await waitUntil('the agent notices', () => agent.log.includes('Docker does not respond; the agent retries'), 30_000)
      await engine.start()
      expect(await engine.docker('inspect', '--format', '{{.State.Running}} {{.State.StartedAt}}', agent.container(1))).toBe(
        `true ${started}`,
      )
      const before = agent.plane.log(agent.id(1)).length
      await waitUntil('the log goes on', () => agent.plane.log(agent.id(1)).length > before + 5, 30_000)
      agent.plane.setDesired(agent.workload(1, IDLE, { desired: 'held' }))
      expect((await agent.reaches(1, 'exited')).reason).toMatch(/^exited with code 0/)
      expect(agent.plane.states(agent.id(1))).toEqual(['starting', 'running', 'exited'])
      const numbers = agent.plane.log(agent.id(1)).flatMap((line) => (line.startsWith('line ') ? [Number(line.slice(5))] : []))
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    } finally {
      await agent.end('SIGKILL')
      await engine.close()
    }
  })

  test('[HOST-62] without live-restore they end, the pod shows the reason, and its disk is there for the next start', async () => {
    const engine = new PrivateEngine()
    try {
      await engine.start()
      await engine.load(agent.image)
      await agent.start([], { DOCKER_HOST: engine.address })
      agent.plane.setDesired(agent.workload(1, `echo kept > /file; ${IDLE}`))
      await agent.reaches(1, 'running')
      expect(agent.log).toContain('containers end when the container engine is restarted')
      await engine.kill('SIGKILL')
      await waitUntil('the agent notices', () => agent.log.includes('Docker does not respond; the agent retries'), 30_000)
      await engine.start()
      expect((await agent.reaches(1, 'exited')).reason).toMatch(/; the container engine was restarted$/)
      const held = agent.workload(1, IDLE, { desired: 'held' })
      agent.plane.setDesired(held, agent.workload(2, IDLE, { replaces: [held.id], keepDisk: true }))
      await agent.reaches(2, 'running')
      expect(await engine.docker('exec', agent.container(2), '/bin/busybox', 'cat', '/file')).toBe('kept')
    } finally {
      await agent.end('SIGKILL')
      await engine.close()
    }
  })
})

describe('a private registry', () => {
  test('[H4] [HOST-58] [HOST-95] receives the credential of the workload, which also an image already on the machine requires', async () => {
    const registry = new Registry('ada', 's3cret-word')
    const name = await registry.listen()
    const [host = ''] = name.split('/')
    try {
      await agent.start(['--registry-allow', `http://${host}`])
      const failure = async (generation: number) => (await agent.reaches(generation, 'error')).reason?.replace(/^.*: /, '')
      agent.plane.setDesired(agent.workload(1, IDLE, { image: name }))
      expect(await failure(1)).toBe('the image does not exist, or needs a credential')
      const wrong = { username: 'ada', password: 'wrong', host }
      agent.plane.setDesired(agent.workload(2, IDLE, { image: name, registryAuth: wrong }))
      expect(await failure(2)).toBe('the registry refused the credential')
      expect(registry.served).toBe(0)
      const right = { username: 'ada', password: 's3cret-word', host }
      agent.plane.setDesired(agent.workload(3, `busybox echo of Ada > /file; ${IDLE}`, { image: name, registryAuth: right }))
      await agent.reaches(3, 'running')
      expect(await agent.shell(3, 'busybox cat /file')).toBe('of Ada')
      // The image is on this machine already; a workload without a credential still does not get it, under any name.
      for (const [index, image] of [name, registry.atDigest(name), `${name}@${registry.atDigest(name).split('@')[1]}`].entries()) {
        agent.plane.setDesired(agent.workload(4 + index, IDLE, { image }))
        expect(await failure(4 + index), image).toBe('the image does not exist, or needs a credential')
      }
      expect(agent.log).not.toContain('s3cret-word')
    } finally {
      await agent.end('SIGKILL')
      await docker('rm', '--force', agent.container(3)).catch(() => {})
      const [, digest = ''] = registry.atDigest(name).split('@sha256:')
      await docker('rmi', '--force', `podplane-pulled:${digest}`).catch(() => {})
      registry.close()
    }
  })
})

describe('a hostile registry', () => {
  test('[H2] [H8] [HOST-96] [HOST-99] cannot redirect the agent elsewhere and fills no disk', async () => {
    const registry = await new FakeRegistry().listen()
    let hits = 0
    const inside = createServer((_request, response) => {
      hits += 1
      response.end('{"token":"INTERNAL-SECRET-42"}')
    })
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
    const { port } = inside.address() as AddressInfo
    try {
      const bomb = imageOf([layerOf(Buffer.alloc(1_200_000_000), (bytes) => gzipSync(bytes, { level: 1 }))])
      registry.push('evil/bomb:1', bomb)
      registry.override = (request, response) => {
        const realm = /\/evil\/realm\//.test(request.url ?? '')
        const redirect = /\/evil\/redirect\//.test(request.url ?? '')
        if (realm) response.writeHead(401, { 'www-authenticate': `Bearer realm="http://127.0.0.1:${port}/token"` }).end()
        if (redirect) response.writeHead(307, { location: `http://127.0.0.1:${port}/latest/meta-data` }).end()
        return realm || redirect
      }
      await agent.start(['--registry-allow', `http://${registry.host}`, '--image-space', '1', '--trusted-tenants'])
      const images = ['realm', 'redirect', 'bomb'].map((name) => `${registry.host}/evil/${name}:1`)
      const inner = `127.0.0.1:${port}/evil/x:4`
      agent.plane.setDesired(...[...images, inner].map((image, index) => agent.workload(index + 1, IDLE, { image })))
      const reasons = await Promise.all([1, 2, 3, 4].map(async (generation) => (await agent.reaches(generation, 'error')).reason))
      const refused = 'the registry is not allowed on this host; its operator can allow it with --registry-allow'
      const tooLarge = 'the image is too large: it unpacks to more than 1.0 GB, and this host has 1.0 GB for it'
      expect(reasons).toEqual([
        `image pull failed: ${images[0]}: ${refused}`,
        `image pull failed: ${images[1]}: ${refused}`,
        `image pull failed: ${images[2]}: ${tooLarge}`,
        `image pull failed: ${inner}: ${refused}`,
      ])
      expect(hits).toBe(0)
      expect(await docker('images', '--quiet', `podplane-pulled:${bomb.digest.slice('sha256:'.length)}`)).toBe('')
      expect(readdirSync(join(agent.stateDir, 'pulls'))).toEqual([])
    } finally {
      registry.close()
      inside.close()
    }
  })
})

describe('a disk that is handed over many times', () => {
  test('[HOST-52] becomes one layer before the engine refuses another, with the settings of its image', async () => {
    await agent.start()
    const env = { WORD: 'a "quoted" $word\nof two lines' }
    agent.plane.setDesired(agent.workload(1, IDLE, { env }))
    await agent.reaches(1, 'running')
    await agent.shell(1, 'echo kept > /file; busybox ln /file /link')
    agent.plane.setDesired(agent.workload(1, IDLE, { desired: 'held' }))
    await agent.reaches(1, 'exited')
    const engine = await connectDocker()
    expect(await engine.countLayers(agent.container(1))).toBe(1)
    const flat = await new ContainerDisks(engine, agent.plane.hostId, 1).handOn(agent.id(1), agent.id(2))
    expect(flat.config).toMatchObject({ Cmd: [IDLE], Entrypoint: ['/bin/busybox', 'sh', '-c'] })
    expect(flat.config.Env).toContain(`WORD=${env.WORD}`)
    expect(await docker('inspect', '--format', '{{len .RootFS.Layers}}', flat.image)).toBe('1')
    expect(await docker('run', '--rm', '--entrypoint', '/bin/busybox', flat.image, 'cat', '/link')).toBe('kept')
    const deep = await new ContainerDisks(engine, agent.plane.hostId, 2).handOn(agent.id(1), agent.id(3))
    expect(deep.config).toEqual({})
    expect(await docker('inspect', '--format', '{{len .RootFS.Layers}}', deep.image)).toBe('2')
  })
})

test('[HOST-63] heartbeats carry the usage of a pod of its reserved resources', async () => {
  await agent.start()
  const resources = { vcpus: 1, memoryMb: 64, diskGb: 1, gpu: null }
  agent.plane.setDesired(agent.workload(1, 'while :; do :; done', { resources }))
  await agent.reaches(1, 'running')
  const stats = await waitUntil(
    'stats with CPU',
    () => {
      const beats = agent.plane.messages.flatMap((message) => (message.type === 'beat' ? [message] : []))
      return beats.flatMap((beat) => beat.stats ?? []).find((item) => item.cpu !== undefined)
    },
    60_000,
  )
  expect(stats.id).toBe(agent.id(1))
  expect(stats.cpu).toBeGreaterThan(0)
  expect(stats.memory).toBeLessThan(50)
  expect(stats.gpus).toBeUndefined()
})
