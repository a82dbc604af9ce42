import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countScript, numbersIn, STAY_SCRIPT, upTo } from '../support/agent/pod-scripts.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'
import { makeTmpfs, removeMounted } from '../support/machines/tmpfs.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { eventually } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'
import { pickPorts } from '../support/plane/ports.ts'
import { readUsage } from '../support/plane/usage.ts'

// Faults around a container: its program, its image, a port, a disk. Each host has a GPU type of its own, so that a pod's GPU selects its
// host.

const PLAIN_GPU = 'NVIDIA L4'
const PORT_GPU = 'NVIDIA B200'
const SMALL_VOLUMES_GPU = 'NVIDIA L40S'
const SMALL_STATE_GPU = 'NVIDIA RTX A6000'
const VOLUME_MB = 8
const STATE_MB = 12
const SECOND_MS = 1_000

const gpu = (id: string) => ({ gpu: { id, count: 1 } })

describe('pods in trouble', () => {
  let fleet: Fleet
  let image: string
  let firstPort: number
  let occupant: Server
  let volumeDir: string
  let stateParent: string
  let registry: HttpServer
  let registryHost: string

  beforeAll(async () => {
    image = await busyboxImage()
    volumeDir = await makeTmpfs(VOLUME_MB)
    stateParent = await makeTmpfs(STATE_MB)
    firstPort = await pickPorts(2)
    occupant = await listen(firstPort)
    registry = await emptyRegistry()
    registryHost = `127.0.0.1:${(registry.address() as AddressInfo).port}`
    fleet = await Fleet.start({
      hosts: {
        plain: { simulateGpus: `${PLAIN_GPU}:4`, args: ['--registry-allow', `http://${registryHost}`] },
        ports: { simulateGpus: `${PORT_GPU}:4`, args: ['--port-range', `${firstPort}-${firstPort + 1}`] },
        volumes: { simulateGpus: `${SMALL_VOLUMES_GPU}:4`, volumeDir },
        state: { simulateGpus: `${SMALL_STATE_GPU}:4`, stateParent, args: ['--log-file', join(stateParent, 'agent.log')] },
      },
    })
  })
  afterAll(async () => {
    await fleet?.stop()
    occupant?.close()
    registry?.close()
    for (const path of [volumeDir, stateParent]) if (path !== undefined) await removeMounted(path)
  })

  test.concurrent('[POD-23] a program that ends with 1: EXITED with its code and last lines, charged for its running time', async () => {
    const script = 'echo starting; busybox sleep 2; echo "no model found" >&2; exit 1'
    const pod = await TestPod.run(fleet.plane, podBody(image, script, gpu(PLAIN_GPU)))
    const view = await pod.reaches('EXITED')
    expect(view.statusReason).toMatch(/exited with code 1.*no model found/)
    expect(view).toMatchObject({ actions: ['start', 'terminate'], cost: 0, runtime: null, startedAt: null })
    const { State } = await pod.container()
    expect(State.ExitCode).toBe(1)
    const [row, ...others] = readUsage(fleet.plane, pod.id)
    expect(others).toEqual([])
    expect(Math.abs((row?.startedAt ?? 0) - Date.parse(State.StartedAt))).toBeLessThanOrEqual(SECOND_MS)
    expect(Math.abs((row?.endedAt ?? 0) - Date.parse(State.FinishedAt))).toBeLessThanOrEqual(SECOND_MS)
    const log = pod.log()
    await log.waitFor((lines) => lines.some((line) => line.startsWith('exited with code 1')))
    expect(log.lines().filter((line) => ['starting', 'no model found'].includes(line))).toEqual(['starting', 'no model found'])
    log.close()
    await pod.terminate()
  })

  test.concurrent('[POD-23] an image that does not exist: ERROR with the reason, nothing charged, its capacity released', async () => {
    const absent = `${registryHost}/absent:1`
    const pod = await TestPod.create(fleet.plane, podBody(absent, STAY_SCRIPT, gpu(PLAIN_GPU)))
    const view = await pod.reaches('ERROR')
    expect(view.statusReason).toMatch(/^image pull failed: .*: the image does not exist, or needs a credential$/)
    expect(view).toMatchObject({ actions: ['start', 'terminate'], cost: 0, runtime: null, startedAt: null })
    expect(await pod.containers()).toEqual([])
    expect(readUsage(fleet.plane, pod.id)).toEqual([])
    // The host retries on request, with the same outcome while nothing has changed, and with another once it has.
    await pod.act('start')
    await pod.reaches('ERROR')
    await pod.patch({ image })
    await pod.act('start')
    await pod.reaches('RUNNING')
    await pod.terminate()
  })

  test.concurrent('[HOST-56][HOST-57] a host port in use by another program is skipped; with none left the pod shows the reason', async () => {
    const ports = { ports: ['8000/tcp'], ...gpu(PORT_GPU) }
    const pod = await TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT, ports))
    expect((await pod.get()).runtime?.ports).toMatchObject([{ private: 8000, public: firstPort + 1, type: 'tcp' }])
    const second = await TestPod.create(fleet.plane, podBody(image, STAY_SCRIPT, ports))
    const view = await second.reaches('ERROR')
    expect(view.statusReason).toMatch(new RegExp(`port ${firstPort}(?:.|\\n)*taken`))
    expect(await second.containers()).toEqual([])
    // The other program is untouched, and so is the pod that has its port. Once that is free, the second one starts.
    expect(occupant.listening).toBe(true)
    expect((await pod.get()).status).toBe('RUNNING')
    await pod.terminate()
    await second.act('start')
    expect((await second.reaches('RUNNING')).runtime?.ports).toMatchObject([{ private: 8000, public: firstPort + 1 }])
    await second.terminate()
  })

  test.concurrent('[HOST-55] a full volume disk: the program sees it, and the pod and others on the host continue', async () => {
    const withVolume = { ...gpu(SMALL_VOLUMES_GPU), mounts: { persistent: { size: 10, path: '/data' } } }
    const fill = `busybox dd if=/dev/zero of=/data/fill bs=1M count=${2 * VOLUME_MB}; echo "dd ended with $?"; ${STAY_SCRIPT}`
    const pod = await TestPod.run(fleet.plane, podBody(image, fill, withVolume))
    const log = pod.log()
    await log.waitFor((lines) => lines.includes('dd ended with 1'))
    expect(log.lines().some((line) => line.includes('No space left on device'))).toBe(true)
    log.close()
    expect((await pod.get()).status).toBe('RUNNING')
    const neighbour = await TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT, gpu(SMALL_VOLUMES_GPU)))
    await neighbour.shell('echo works >/scratch')

    // A pod that needs space there fails with the reason; once there is space again, it starts.
    const third = await TestPod.create(fleet.plane, podBody(image, STAY_SCRIPT, withVolume))
    expect((await third.reaches('ERROR')).statusReason).toMatch(/no space is left on this host/)
    expect((await pod.get()).status).toBe('RUNNING')
    await pod.terminate()
    await eventually('the volume is wiped', 10_000, async () => readdirSync(volumeDir).length === 0)
    await third.act('start')
    await third.reaches('RUNNING')
    await Promise.all([third.terminate(), neighbour.terminate()])
  })

  test.concurrent('[HOST-12][HOST-170][HOST-172] a full disk under the agent itself: its pods continue, and their output arrives when there is space again', async () => {
    const count = 100
    const pod = await TestPod.run(fleet.plane, podBody(image, countScript({ count, everyMs: 100 }), gpu(SMALL_STATE_GPU)))
    const { Id } = await pod.container()
    const log = pod.log()
    await log.waitFor((lines) => lines.includes('line 10'))
    const filler = join(stateParent, 'filler')
    fillUp(filler)
    try {
      // Not a comparison with a single line: it is the last one for a tenth of a second, and the engine may take longer to answer.
      const newest = async () => numbersIn([await docker('logs', '--tail', '1', Id)])[0] ?? 0
      await eventually('the program writes on', 30_000, async () => (await newest()) >= 70)
      expect(existsSync(`/proc/${fleet.agent('state').pid}`)).toBe(true)
      const sick = async () => (await fleet.host('state')).health === 'UNHEALTHY' && fleet.host('state')
      const host = await eventually('the host says that its disk is full', 30_000, sick)
      expect([host.status, host.statusReason]).toEqual(['ONLINE', expect.stringMatching(/is not writable: ENOSPC/)])
      const other = { name: 'other', ...podBody(image, STAY_SCRIPT, gpu(SMALL_STATE_GPU)) }
      await expect(TestPod.create(fleet.plane, other)).rejects.toThrow(/no .*(capacity|available)|needs a host whose disk is not full/i)
    } finally {
      rmSync(filler)
    }
    await eventually('the host is well again by itself', 30_000, async () => (await fleet.host('state')).health === 'HEALTHY')
    const received = () => readFileSync(join(stateParent, 'agent.log'), 'utf8')
    expect(received()).toContain('the disk of this agent is writable again')
    expect(received()).toMatch(/"msg":"log lines were dropped","lines":[1-9]/)
    await log.waitFor((lines) => lines.includes(`line ${count}`))
    log.close()
    expect(numbersIn(log.lines())).toEqual(upTo(count))
    expect((await pod.get()).status).toBe('RUNNING')
    expect((await pod.container()).Id).toBe(Id)
    await pod.act('stop')
    await pod.isDown()
    await pod.act('start')
    await pod.reaches('RUNNING')
    await pod.terminate()
  })
})

/** Writes until nothing more fits. */
function fillUp(path: string): void {
  const chunk = Buffer.alloc(4_096)
  for (;;) {
    try {
      appendFileSync(path, chunk)
    } catch {
      return
    }
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '0.0.0.0', resolve))
  return server
}

/** A registry without any image. */
async function emptyRegistry(): Promise<HttpServer> {
  const server = createHttpServer((request, response) => {
    const isProbe = request.url === '/v2/'
    response.writeHead(isProbe ? 200 : 404, { 'content-type': 'application/json', 'docker-distribution-api-version': 'registry/2.0' })
    response.end(isProbe ? '{}' : JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
