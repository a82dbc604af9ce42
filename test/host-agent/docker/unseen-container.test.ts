import { expect, test } from 'vitest'
import { HostPorts } from '../../../src/host-agent/docker/ports/host-ports.ts'
import { DockerRuntime, type DockerRuntimeOptions } from '../../../src/host-agent/docker/runtime.ts'
import type { DockerEngine, ListedContainer } from '../../../src/host-agent/engine/engine.ts'
import { HOST_LABEL, WORKLOAD_LABEL } from '../../../src/host-agent/engine/labels.ts'
import { createLog } from '../../../src/host-agent/log.ts'
import { RelayCallers } from '../../../src/host-agent/relay/admission/callers.ts'
import { tempDir } from '../support/temp-dir.ts'

const UNREADABLE = new Error('invalid character in the state of this container')

/** Containers that the engine lists, one of which it cannot inspect. */
function scene() {
  const containers = new Map<string, ListedContainer>()
  const add = (id: string, status: string) => {
    const labels = { [HOST_LABEL]: 'h', [WORKLOAD_LABEL]: id, 'podplane.ports': '[{"private":22,"public":30001,"type":"tcp"}]' }
    containers.set(`podplane-${id}`, { name: `podplane-${id}`, labels, status, networks: [] })
  }
  const calls: string[] = []
  const engine = {
    list: async (...labels: string[]) =>
      [...containers.values()].filter((found) =>
        labels.every((label) => Object.entries(found.labels).some((pair) => pair.join('=') === label)),
      ),
    inspect: async (name: string) => {
      if (name === 'podplane-bad') throw UNREADABLE
      const found = containers.get(name)
      return found && { ...found, startedAtMs: 5, addresses: [], anonymousVolumes: [] }
    },
    wait: async () => {},
    stop: async (name: string) => {
      calls.push(`stop ${name}`)
      const found = containers.get(name)
      if (found) containers.set(name, { ...found, status: 'exited' })
    },
    remove: async (name: string) => {
      calls.push(`remove ${name}`)
      containers.delete(name)
    },
    removeImage: async () => {},
    readLogs: async () => Buffer.alloc(0),
  } as unknown as DockerEngine
  let log = ''
  const runtime = new DockerRuntime({
    engine,
    hostId: 'h',
    stateDir: tempDir('unseen'),
    images: { allowed: new Map() },
    log: createLog('info', (line) => {
      log += line
    }),
    callers: new RelayCallers(async () => []),
    ports: new HostPorts({ range: { from: 30_000, to: 30_010 } }),
  } as unknown as DockerRuntimeOptions)
  return { runtime, containers, add, calls, log: () => log }
}

test('[HOST-109] a container that cannot be inspected has its state from the list, is named in the log, and affects no other', async () => {
  const { runtime, add, log } = scene()
  for (const id of ['good', 'bad']) add(id, 'running')
  const ports = [{ private: 22, public: 30_001, type: 'tcp' }]
  expect(await runtime.list()).toEqual([
    { id: 'good', phase: 'running', ports, startedAtMs: 5 },
    { id: 'bad', phase: 'running', ports, startedAtMs: null, problem: 'the container engine does not say how this container is' },
  ])
  expect(log()).toContain('"workload":"bad"')
})

test('[HOST-109] it can be stopped, seen to end, and removed', async () => {
  const { runtime, add, calls, containers } = scene()
  add('bad', 'running')
  const end = runtime.watch('bad')
  await runtime.stop('bad', 1_000)
  expect(await end).toMatchObject({ exitCode: null, endedAtMs: null })
  await runtime.remove('bad')
  expect([calls, containers.size]).toEqual([['stop podplane-bad', 'remove podplane-bad'], 0])
})

test('[HOST-109] a container of another host is neither stopped nor removed', async () => {
  const { runtime, calls, containers } = scene()
  const labels = { [HOST_LABEL]: 'other', [WORKLOAD_LABEL]: 'bad' }
  containers.set('podplane-bad', { name: 'podplane-bad', labels, status: 'running', networks: [] })
  await runtime.stop('bad', 1_000)
  await runtime.remove('bad')
  expect(calls).toEqual([])
})
