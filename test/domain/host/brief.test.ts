import { describe, expect, test } from 'vitest'
import { briefOf, programOf } from '../../../src/domain/host/brief.ts'
import { PlaneMessage, type Workload } from '../../../src/host-protocol/messages.ts'

const whole: Workload = {
  id: 'p-3',
  kind: 'pod',
  desired: 'held',
  stopGraceMs: 900,
  image: 'nginx',
  entrypoint: ['sh'],
  cmd: ['-c', 'true'],
  env: { SECRET: 'hunter2' },
  platformEnv: { RUNPOD_API_KEY: 'ppd_x' },
  ports: ['22/tcp'],
  resources: { vcpus: 1, memoryMb: 2, diskGb: 3, gpu: { typeId: 'NVIDIA L4', count: 1 } },
  log: { kind: 'pod', ownerId: 'p', grant: 'g' },
  replaces: ['p-2'],
  keepDisk: true,
  mounts: [
    { kind: 'persistent', id: 'p', path: '/workspace', sizeGb: 5 },
    { kind: 'network', id: 'v', path: '/data' },
  ],
  wipe: true,
}
const login = { registryAuth: { username: 'u', password: 'p' } }

describe('[HOST-68] a workload in brief', () => {
  test('has the fields that a host needs for keeping and removing it, and is a valid workload for every agent', () => {
    const brief = briefOf({ ...whole, ...login })
    expect(brief).toEqual({
      id: 'p-3',
      kind: 'pod',
      desired: 'held',
      stopGraceMs: 900,
      image: 'nginx',
      entrypoint: [],
      cmd: [],
      env: {},
      platformEnv: {},
      ports: [],
      resources: whole.resources,
      replaces: ['p-2'],
      keepDisk: true,
      mounts: [{ kind: 'persistent', id: 'p', path: '/', sizeGb: 5 }],
      wipe: true,
    })
    const message = { type: 'desired', revision: 1, workloads: [brief] }
    expect(PlaneMessage.parse(message)).toEqual(message)
  })

  test('is complete again with its program, whichever fields it lacks', () => {
    const { log: _log, mounts: _mounts, ...least } = whole
    for (const workload of [whole, least, { ...whole, mounts: [] }]) {
      expect({ ...briefOf(workload), ...programOf(workload) }).toEqual(workload)
    }
    expect(JSON.stringify([briefOf(whole), programOf({ ...whole, ...login })])).not.toContain('password')
  })
})
