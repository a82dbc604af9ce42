import { expect, test } from 'vitest'
import { HostPorts } from '../../../src/host-agent/docker/ports/host-ports.ts'
import { DockerRuntime, type DockerRuntimeOptions } from '../../../src/host-agent/docker/runtime.ts'
import type { DockerEngine } from '../../../src/host-agent/engine/engine.ts'
import { HOST_LABEL, PORTS_LABEL, RELAY_KEY_LABEL, WORKLOAD_LABEL } from '../../../src/host-agent/engine/labels.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { RelayCallers, relayKeyHash } from '../../../src/host-agent/relay/admission/callers.ts'
import { keyOf } from '../support/callers.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload, workerEnv } from '../support/workload.ts'

function worker(id: string) {
  return makeWorkload({ id, kind: 'worker', platformEnv: { ...workerEnv('ep', id), RUNPOD_AI_API_KEY: keyOf(id) } })
}

test('[HOST-75] a restarted agent identifies running workers by the labels of their containers, until they end', async () => {
  const container = (id: string, address: string, label: Record<string, string>) => ({
    labels: { [HOST_LABEL]: 'h', [WORKLOAD_LABEL]: id, [PORTS_LABEL]: '[]', ...label },
    addresses: [address],
    status: 'running',
  })
  const containers = new Map([
    ['podplane-w1', container('w1', '172.17.0.2', { [RELAY_KEY_LABEL]: relayKeyHash(worker('w1')) ?? '' })],
    ['podplane-old', container('old', '172.17.0.3', {})],
    ['podplane-pod', container('pod', '172.17.0.4', { [RELAY_KEY_LABEL]: '' })],
  ])
  const engine = {
    list: async () => [...containers].map(([name, facts]) => ({ name, networks: [], ...facts })),
    inspect: async (name: string) => containers.get(name),
    wait: async () => {},
  } as unknown as DockerEngine
  const callers = new RelayCallers(async (id) => containers.get(`podplane-${id}`)?.addresses ?? [])
  const ports = new HostPorts({ range: { from: 30_000, to: 30_010 } })
  const runtime = new DockerRuntime({
    engine,
    hostId: 'h',
    stateDir: tempDir('callers'),
    images: { allowed: new Map() },
    log: silentLog(),
    callers,
    ports,
  } as unknown as DockerRuntimeOptions)
  const known = () =>
    Promise.all([
      callers.identify('172.17.0.2', keyOf('w1')),
      callers.identify('172.17.0.3', keyOf('old')),
      callers.identify('172.17.0.4', keyOf('pod')),
    ])

  await runtime.list()
  expect([callers.count, await known()]).toEqual([2, ['w1', undefined, undefined]])
  callers.update([worker('w1'), worker('old'), worker('pod')])
  expect(await known()).toEqual(['w1', 'old', undefined])
  containers.delete('podplane-w1')
  await runtime.watch('w1')
  expect(await known()).toEqual([undefined, 'old', undefined])
})
