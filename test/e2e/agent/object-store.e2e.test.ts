import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../support/time.ts'
import { type ObjectStore, startClosedStore, startObjectStore } from '../support/agent/object-store.ts'
import { freshPodAgents, IDLE, PodAgent } from '../support/agent/pod-agent.ts'

// Global volumes in a bucket that the agents mount themselves, on a real S3 server.

const BUCKET = 'podplane-e2e'
const LOGIN = { AWS_ACCESS_KEY_ID: 'test-key', AWS_SECRET_ACCESS_KEY: 'test-secret' }
const WAIT_MS = 60_000

let store: ObjectStore
let agent: PodAgent
beforeAll(async () => {
  store = await startObjectStore(BUCKET)
}, 300_000)
afterAll(() => store.close())
freshPodAgents((fresh) => {
  agent = fresh
})

const flags = (endpoint: string) => [
  '--global-volumes',
  `s3://${BUCKET}/volumes?endpoint=${endpoint}&region=us-east-1`,
  '--on-exit',
  'stop',
]
const globalMount = (id: string) => ({ mounts: [{ kind: 'global' as const, id, path: '/data' }] })
const mountsBelow = () => readFileSync('/proc/self/mountinfo', 'utf8').match(/\/run\/podplane\/bucket-\w+/g) ?? []

/** The processes of rclone that serve a mount. */
function rcloneAt(path: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return args[1] === 'mount' && args.includes(path)
    } catch {
      return false
    }
  })
}

/** Credentials as systemd passes them: a directory of files that the service alone reads. */
function handOver(own: PodAgent): Record<string, string> {
  const lines = Object.entries(LOGIN).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(own.stateDir, 'global-volumes'), lines.join(''), { mode: 0o400 })
  return { CREDENTIALS_DIRECTORY: own.stateDir }
}

async function startPod(own: PodAgent, volume: string, login: Record<string, string> = LOGIN): Promise<void> {
  await own.start(flags(store.endpoint), login)
  await waitUntil('the bucket', () => own.log.includes('mounted the bucket'), WAIT_MS)
  own.plane.setDesired(own.workload(1, IDLE, globalMount(volume)))
  await own.reaches(1, 'running')
}

test('[HOST-115][GLV-6][GLV-9] two hosts share one global volume, other accounts see none of it, and a deleted one is removed from the bucket', async () => {
  const other = new PodAgent(agent.image)
  const before = mountsBelow()
  try {
    await Promise.all([startPod(agent, 'shared'), startPod(other, 'shared', handOver(other))])
    const otherTenant = other.workload(2, IDLE, globalMount('foreign'))
    other.plane.setDesired(other.workload(1, IDLE, globalMount('shared')), { ...otherTenant, id: `${other.pod}x-1` })
    await agent.shell(1, 'echo hello >/data/file')
    await waitUntil('the file in the bucket', async () => (await store.keys(BUCKET)).includes('volumes/shared/file'), WAIT_MS)
    await waitUntil('the file on the other host', async () => (await other.shell(1, 'cat /data/file || true')) === 'hello', WAIT_MS)
    const shown = await other.shell(1, 'busybox grep " /data " /proc/self/mountinfo')
    expect(shown).toMatch(/nosuid,nodev/)
    await waitUntil('the other pod', () => other.plane.last(`${other.pod}x-1`)?.state === 'running', WAIT_MS)
    const hello = agent.plane.messages.find((message) => message.type === 'hello')
    expect(hello?.inventory.sharedVolumes).toEqual(['global'])

    // The volume is unmounted on hosts where no container uses it.
    other.plane.setDesired()
    agent.plane.setDesired({ ...agent.workload(1, IDLE, globalMount('shared')), desired: 'stopped' })
    await agent.reaches(1, 'gone')
    agent.plane.toWipe = [{ kind: 'global', id: 'shared' }]
    const hasConfirmed = () => agent.plane.volumes.some(({ wiped }) => wiped.some(({ id }) => id === 'shared'))
    await waitUntil('the confirmation', hasConfirmed, 60_000)
    expect((await store.keys(BUCKET)).filter((key) => key.startsWith('volumes/shared/'))).toEqual([])
    await Promise.all([agent.end('SIGTERM'), other.end('SIGTERM')])
    expect(mountsBelow(), 'taken away at the end').toEqual(before)
    for (const log of [agent.log, other.log]) expect(log).not.toContain(LOGIN.AWS_SECRET_ACCESS_KEY)
  } finally {
    await other.close()
  }
}, 150_000)

test('[HOST-115][GLV-8] an rclone that dies is restarted: the next container has the volume, with all written data', async () => {
  await startPod(agent, 'survives')
  await agent.shell(1, 'echo hello >/data/file')
  await waitUntil('the file in the bucket', async () => (await store.keys(BUCKET)).includes('volumes/survives/file'), WAIT_MS)
  const [path = ''] = /(?<="path":")\/run\/podplane\/bucket-\w+/.exec(agent.log) ?? []
  const [first = 0] = rcloneAt(path)
  // Paused, so that there is time to check between its death and the next one: the mount point itself cannot be written.
  store.pause()
  process.kill(first, 'SIGKILL')
  agent.plane.setDesired(agent.workload(1, IDLE, globalMount('survives')), agent.workload(2, IDLE, globalMount('survives')))
  expect((await agent.reaches(2, 'error')).reason).toContain('object store')
  expect(existsSync(join(path, 'survives'))).toBe(false)
  store.resume()
  await waitUntil('the mount anew', () => agent.log.split('mounted the bucket').length === 3, WAIT_MS)
  agent.plane.setDesired(agent.workload(1, IDLE, globalMount('survives')), agent.workload(3, IDLE, globalMount('survives')))
  await agent.reaches(3, 'running')
  expect(await agent.shell(3, 'cat /data/file')).toBe('hello')
  // The container that used it has the dead mount until it restarts.
  expect(await agent.shell(1, 'cat /data/file 2>/dev/null || echo none')).toBe('none')
  await agent.end('SIGTERM')
  expect(mountsBelow()).not.toContain(path)
}, 120_000)

test('[HOST-115] a store that refuses the credentials is the reason of the pod, in our own text, and blocks nothing', async () => {
  const closed = await startClosedStore()
  try {
    await agent.start(flags(closed.endpoint), LOGIN)
    await waitUntil('the refusal', () => agent.log.includes('it refuses the credentials'), WAIT_MS).catch((error: Error) => {
      throw new Error(`${error.message}\n${agent.log}`)
    })
    agent.plane.setDesired(agent.workload(1, IDLE, globalMount('shared')))
    const { reason } = await agent.reaches(1, 'error')
    expect(reason).toBe('the object store of global volumes cannot be used on this host: it refuses the credentials')
    agent.plane.setDesired(agent.workload(2, IDLE))
    await agent.reaches(2, 'running')
  } finally {
    await closed.close()
  }
}, 90_000)
