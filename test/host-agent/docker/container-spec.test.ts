import { describe, test } from 'vitest'
import { buildContainerSpec, payerByLabels } from '../../../src/host-agent/docker/container/container-spec.ts'
import { makeWorkload } from '../support/workload.ts'

describe('container spec', () => {
  const context = {
    hostId: 'h1',
    relayUrl: 'http://172.17.0.1:4000',
    publicIp: '203.0.113.7',
    httpIp: '127.0.0.1',
    ownAddresses: new Set(['203.0.113.7']),
    network: 'podplane-abcde-ada',
    sandbox: undefined,
    ...{ engineRuntime: undefined, cgroupNamespaces: true, pidMax: 32_768, openFilesMax: 1_048_576 },
    realVcpus: 4,
    realMemoryMb: 8_000,
    gpuIds: [],
    ports: [],
    mounts: [],
    disk: undefined,
    limitDisk: false,
    raisesLimits: true,
  }

  test('[SHR-40] names the paying account where that is another one, so that a restarted agent counts it there', ({ expect }) => {
    const labels = (change: { account: string; payer?: string }) =>
      buildContainerSpec(makeWorkload({ id: 'w1', image: 'nginx:1.27', ...change }), context).Labels ?? {}
    expect(payerByLabels(labels({ account: 'team', payer: 'maker' }))).toBe('maker')
    expect(labels({ account: 'team', payer: 'maker' })).toMatchObject({ 'podplane.account': 'team' })
    expect(payerByLabels(labels({ account: 'team' }))).toBe('team')
  })

  test('is locked down, capped at the real machine, and gets the relay only in platform variables', ({ expect }) => {
    const workload = makeWorkload({
      id: 'w1',
      image: 'nginx:1.27',
      env: { MINE: '{{relay_url}}' },
      platformEnv: { RUNPOD_WEBHOOK_PING: '{{relay_url}}/v2/ep/ping/$RUNPOD_POD_ID?a=b' },
      ports: ['8080/http', '22/tcp'],
      resources: { vcpus: 64, memoryMb: 1_000_000, diskGb: 10, gpu: { typeId: 'NVIDIA L4', count: 1 } },
    })
    const ports = [
      { requested: 8_080, private: 8_080, public: 30_001, type: 'http' },
      { requested: 22, private: 22, public: 30_002, type: 'tcp' },
    ]
    const spec = buildContainerSpec(workload, { ...context, ports })
    expect(spec).not.toHaveProperty('Cmd')
    expect(spec.Env).toEqual([
      'MINE={{relay_url}}',
      'RUNPOD_WEBHOOK_PING=http://172.17.0.1:4000/v2/ep/ping/$RUNPOD_POD_ID?a=b',
      'RUNPOD_TCP_PORT_22=30002',
      'NVIDIA_VISIBLE_DEVICES=void',
    ])
    expect(spec.Labels).toEqual({
      'podplane.host': 'h1',
      'podplane.workload': 'w1',
      'podplane.gpus': '',
      'podplane.ports': '[{"private":8080,"public":30001,"type":"http"},{"private":22,"public":30002,"type":"tcp"}]',
      'podplane.account': 'w1',
      'podplane.relay-key': '',
    })
    expect(spec.HostConfig).toMatchObject({
      Memory: 8_000 * 2 ** 20,
      NanoCpus: 4e9,
      PidsLimit: 28_672,
      SecurityOpt: ['no-new-privileges'],
      RestartPolicy: { Name: 'no' },
      NetworkMode: 'podplane-abcde-ada',
      PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '30001' }], '22/tcp': [{ HostIp: '203.0.113.7', HostPort: '30002' }] },
    })
    for (const name of ['Privileged', 'Binds', 'Mounts', 'DeviceRequests', 'StorageOpt']) expect(spec.HostConfig).not.toHaveProperty(name)
  })

  test('[ENV-4] a variable of the user wins over an injected one, unless its name begins with RUNPOD_', ({ expect }) => {
    const workload = makeWorkload({
      id: 'w1',
      env: { PUBLIC_KEY: 'mine', RUNPOD_POD_ID: 'mine', RUNPOD_OWN: 'mine', RUNPOD_TCP_PORT_22: 'mine' },
      platformEnv: { PUBLIC_KEY: 'theirs', RUNPOD_POD_ID: 'theirs', RUNPOD_PUBLIC_IP: '{{public_ip}}', JUPYTER_PASSWORD: 'theirs' },
    })
    const ports = [{ requested: 22, private: 22, public: 30_002, type: 'tcp' }]
    const given = ['PUBLIC_KEY=mine', 'RUNPOD_POD_ID=theirs', 'RUNPOD_OWN=mine', 'RUNPOD_TCP_PORT_22=30002']
    const env = (publicIp: string | null) => buildContainerSpec(workload, { ...context, ports, publicIp }).Env
    expect(env('203.0.113.7')).toEqual([...given, 'RUNPOD_PUBLIC_IP=203.0.113.7', 'JUPYTER_PASSWORD=theirs', 'NVIDIA_VISIBLE_DEVICES=void'])
    expect(env(null)).toEqual([...given, 'RUNPOD_PUBLIC_IP=', 'JUPYTER_PASSWORD=theirs', 'NVIDIA_VISIBLE_DEVICES=void'])
  })

  test('[HOST-65] sees only its allocated GPUs, whatever its environment, its image or its previous container has', ({ expect }) => {
    const workload = makeWorkload({ id: 'w1', env: { NVIDIA_VISIBLE_DEVICES: 'all' } })
    expect(buildContainerSpec(workload, context).Env).toEqual(['NVIDIA_VISIBLE_DEVICES=void'])
    const disk = { image: 'podplane-disk:w1', config: { Env: ['NVIDIA_VISIBLE_DEVICES=GPU-9'] }, mounts: [] }
    const given = buildContainerSpec(workload, { ...context, disk, gpuIds: ['GPU-1', 'GPU-2'] })
    expect(given.Env).toEqual(['NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-2'])
  })

  test('requests real GPUs by their ids, and has no limits without a limit in the request', ({ expect }) => {
    const spec = buildContainerSpec(makeWorkload({ id: 'w1', entrypoint: ['python'], cmd: ['-V'] }), {
      ...context,
      gpuIds: ['GPU-1', 'GPU-2'],
    })
    expect(spec.HostConfig?.DeviceRequests).toEqual([{ Driver: 'nvidia', DeviceIDs: ['GPU-1', 'GPU-2'], Capabilities: [['gpu']] }])
    expect(spec.HostConfig).not.toHaveProperty('Memory')
    expect([spec.Entrypoint, spec.Cmd]).toEqual([['python'], ['-V']])
  })

  test('[HOST-52] continues with a kept disk under the new configuration, without paths that the new mounts cover', ({ expect }) => {
    const kept = [
      { Type: 'volume' as const, Source: 'a', Target: '/data' },
      { Type: 'volume' as const, Source: 'b', Target: '/cache' },
    ]
    const disk = { image: 'podplane-disk:w2', config: { Env: ['A=old', 'B=old'], WorkingDir: '/app' }, mounts: kept }
    const mounts = [{ Type: 'bind' as const, Source: '/volumes/p', Target: '/data' }]
    const spec = buildContainerSpec(makeWorkload({ id: 'w2', image: 'nginx', env: { B: 'new' } }), { ...context, disk, mounts })
    expect(spec).toMatchObject({ Image: 'podplane-disk:w2', WorkingDir: '/app', Env: ['A=old', 'B=new', 'NVIDIA_VISIBLE_DEVICES=void'] })
    expect(spec.HostConfig?.Mounts).toEqual([kept[1], mounts[0]])
  })

  test('limits the disk where the engine can', ({ expect }) => {
    const workload = makeWorkload({ id: 'w1', resources: { vcpus: 0, memoryMb: 0, diskGb: 10, gpu: null } })
    expect(buildContainerSpec(workload, { ...context, limitDisk: true }).HostConfig?.StorageOpt).toEqual({ size: '10G' })
  })

  test('[HOST-108] has the engine carry out no health check of an image', ({ expect }) => {
    const disk = { image: 'podplane-disk:p', config: { Healthcheck: { Test: ['CMD', '/a'], Interval: 1_000_000 } }, mounts: [] }
    for (const from of [undefined, disk]) {
      expect(buildContainerSpec(makeWorkload({ id: 'p' }), { ...context, disk: from }).Healthcheck).toEqual({ Test: ['NONE'] })
    }
  })
})
