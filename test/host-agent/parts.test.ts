import { describe, test, vi } from 'vitest'
import { findBridgeAddress } from '../../src/host-agent/docker/bridge.ts'
import { compareVersions } from '../../src/host-agent/docker/client.ts'
import { buildContainerSpec } from '../../src/host-agent/docker/container-spec.ts'
import type { DockerEngine } from '../../src/host-agent/docker/engine.ts'
import { endedByOutage, extendOutage } from '../../src/host-agent/docker/engine-outage.ts'
import { parseDockerLogs } from '../../src/host-agent/docker/logs.ts'
import { describeExit } from '../../src/host-agent/exit-reason.ts'
import { createLog } from '../../src/host-agent/log.ts'
import { readOptions } from '../../src/host-agent/options.ts'
import { LeaseWatch } from '../../src/host-agent/plane/lease.ts'
import { TakeTimes } from '../../src/host-agent/plane/take-times.ts'
import { redact } from '../../src/host-agent/redact.ts'
import { makeWorkload } from './support/workload.ts'

describe('exit reasons', () => {
  const facts = { exitCode: 1, signal: null, outOfMemory: false, tail: [] as string[] }

  test('say how it ended, and with which words', ({ expect }) => {
    const python = ['Traceback (most recent call last):', '  File "a.py", line 1', "ModuleNotFoundError: No module named 'torch'", '']
    expect(describeExit({ ...facts, tail: python })).toBe("exited with code 1: ModuleNotFoundError: No module named 'torch'")
    const node = ['Error: boom', '    at main (a.js:1:1)', '', 'Node.js v24.1.0']
    expect(describeExit({ ...facts, tail: node })).toBe('exited with code 1: Error: boom')
    expect(describeExit({ ...facts, exitCode: 0, tail: ['done'] })).toBe('exited with code 0')
    expect(describeExit({ ...facts, exitCode: 137, outOfMemory: true, tail: ['loading'] })).toBe('killed by signal SIGKILL (out of memory)')
    expect(describeExit({ ...facts, exitCode: 139, tail: ['in kernel'] })).toBe('killed by signal SIGSEGV: in kernel')
    expect(describeExit({ ...facts, exitCode: 143, tail: ['serving'] })).toBe('killed by signal SIGTERM')
    expect(describeExit({ ...facts, exitCode: null })).toBe('ended without an exit code')
  })

  test('carry neither colours nor keys nor endless lines', ({ expect }) => {
    expect(describeExit({ ...facts, tail: ['\u001b[31mbad key pp_abcdef123456\u001b[0m'] })).toBe('exited with code 1: bad key [redacted]')
    expect(describeExit({ ...facts, tail: ['x'.repeat(1_000)] })).toHaveLength('exited with code 1: '.length + 300)
  })
})

describe('container spec', () => {
  const context = {
    hostId: 'h1',
    relayUrl: 'http://172.17.0.1:4000',
    publicIp: '203.0.113.7',
    realVcpus: 4,
    realMemoryMb: 8_000,
    gpuIds: [],
    ports: [],
    mounts: [],
    disk: undefined,
    limitDisk: false,
  }

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
    })
    expect(spec.HostConfig).toMatchObject({
      Memory: 8_000 * 2 ** 20,
      NanoCpus: 4e9,
      PidsLimit: 4_096,
      SecurityOpt: ['no-new-privileges'],
      RestartPolicy: { Name: 'no' },
      PortBindings: { '8080/tcp': [{ HostPort: '30001' }], '22/tcp': [{ HostPort: '30002' }] },
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

  test('[HOST-65] sees the GPUs it was given and no others, whatever its own environment, its image or its former container say', ({
    expect,
  }) => {
    const workload = makeWorkload({ id: 'w1', env: { NVIDIA_VISIBLE_DEVICES: 'all' } })
    expect(buildContainerSpec(workload, context).Env).toEqual(['NVIDIA_VISIBLE_DEVICES=void'])
    const disk = { image: 'podplane-disk:w1', config: { Env: ['NVIDIA_VISIBLE_DEVICES=GPU-9'] }, mounts: [] }
    const given = buildContainerSpec(workload, { ...context, disk, gpuIds: ['GPU-1', 'GPU-2'] })
    expect(given.Env).toEqual(['NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-2'])
  })

  test('asks for real GPUs by their ids; no limits where none are wanted', ({ expect }) => {
    const spec = buildContainerSpec(makeWorkload({ id: 'w1', entrypoint: ['python'], cmd: ['-V'] }), {
      ...context,
      gpuIds: ['GPU-1', 'GPU-2'],
    })
    expect(spec.HostConfig?.DeviceRequests).toEqual([{ Driver: 'nvidia', DeviceIDs: ['GPU-1', 'GPU-2'], Capabilities: [['gpu']] }])
    expect(spec.HostConfig).not.toHaveProperty('Memory')
    expect([spec.Entrypoint, spec.Cmd]).toEqual([['python'], ['-V']])
  })

  test('[HOST-52] goes on with a kept disk under the new configuration, without what the new mounts cover', ({ expect }) => {
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
})

describe('docker details', () => {
  test('versions compare by number', ({ expect }) => {
    expect(compareVersions('1.9', '1.41')).toBeLessThan(0)
    expect(compareVersions('1.44', '1.44')).toBe(0)
  })

  test('output frames are taken apart; a terminal has none', ({ expect }) => {
    const frame = (stream: number, payload: string) =>
      Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, payload.length]), Buffer.from(payload)])
    expect(parseDockerLogs(Buffer.concat([frame(1, 'out\n'), frame(2, 'err\n')]))).toEqual(['out', 'err', ''])
    expect(parseDockerLogs(Buffer.from('plain text\n'))).toEqual(['plain text', ''])
  })

  test('the relay listens on the bridge gateway, stated or not, and on loopback where the engine lives in a virtual machine', async ({
    expect,
  }) => {
    const engine = (gateway: string | undefined) =>
      ({ bridge: async () => ({ gateway, subnet: '172.17.0.0/16' }) }) as unknown as DockerEngine
    const own = async (address: string) => address === '172.17.0.1'
    expect(await findBridgeAddress(engine('172.17.0.1'), own)).toEqual({ listen: '172.17.0.1', advertise: '172.17.0.1' })
    expect(await findBridgeAddress(engine(undefined), own)).toEqual({ listen: '172.17.0.1', advertise: '172.17.0.1' })
    expect(await findBridgeAddress(engine('172.17.0.1'), async () => false)).toEqual({
      listen: '127.0.0.1',
      advertise: 'host.docker.internal',
    })
  })
})

describe('outages of the engine', () => {
  test('[HOST-62] a container that ended around one went with the engine, any other did not', ({ expect }) => {
    const outage = extendOutage(extendOutage(undefined, 100_000), 110_000)
    expect(outage).toEqual({ fromMs: 100_000, toMs: 110_000 })
    expect([69_999, 70_000, 140_000, 140_001].map((atMs) => endedByOutage(atMs, outage))).toEqual([false, true, true, false])
    expect([endedByOutage(null, outage), endedByOutage(100_000, undefined)]).toEqual([false, false])
  })

  test('failures within half a minute are one outage', ({ expect }) => {
    expect(extendOutage({ fromMs: 0, toMs: 10_000 }, 40_000)).toEqual({ fromMs: 0, toMs: 40_000 })
    expect(extendOutage({ fromMs: 0, toMs: 10_000 }, 40_001)).toEqual({ fromMs: 40_001, toMs: 40_001 })
  })
})

describe('logs', () => {
  test('are JSON lines without credentials', ({ expect }) => {
    const lines: string[] = []
    const log = createLog('info', (line) => lines.push(line))
    log.debug('not this')
    log.info('sent Authorization: Bearer abc.def', { key: 'ppw_abcdefgh', jwt: 'eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.c2ln' })
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', msg: 'sent Authorization: [redacted]', key: '[redacted]', jwt: '[redacted]' },
    ])
    expect(redact('pp_ shows pods')).toBe('pp_ shows pods')
  })
})

describe('lease watch', () => {
  test('[HOST-36] acts first after 25 s, counted from when the acknowledged beat was sent, and then when it was told to', ({ expect }) => {
    vi.useFakeTimers()
    try {
      const silences: number[] = []
      const startMs = performance.now()
      const lease = new LeaseWatch((sinceMs, nowMs) => {
        silences.push(nowMs - sinceMs)
        return silences.length < 2 ? 40_000 : null
      })
      vi.advanceTimersByTime(20_000)
      lease.renew(performance.now() - 1_000)
      vi.advanceTimersByTime(23_999)
      expect(silences).toEqual([])
      vi.advanceTimersByTime(1)
      expect(silences).toEqual([25_000])
      vi.advanceTimersByTime(14_999)
      expect(silences).toEqual([25_000])
      vi.advanceTimersByTime(600_000)
      expect(silences).toEqual([25_000, 40_000])
      expect(performance.now() - startMs).toBeGreaterThan(600_000)
      lease.renew(performance.now())
      vi.advanceTimersByTime(24_999)
      lease.renew(performance.now())
      vi.advanceTimersByTime(24_999)
      expect(silences).toHaveLength(2)
      lease.close()
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('times of takes', () => {
  const MAX_MS = 600_000
  const plan = (times: TakeTimes, silentMs: number, maxMs = MAX_MS) =>
    times.planStops(['old', 'young', 'idle'], { sinceMs: 1_000_000, nowMs: 1_000_000 + silentMs, maxMs })

  test('[HOST-36] a worker is stopped 10 s before its newest job has waited as long as it ran, at least 25 s', ({ expect }) => {
    const times = new TakeTimes()
    times.note('old', 0)
    times.note('old', 900_000)
    times.note('young', 990_000)
    expect(plan(times, 25_000)).toEqual({ due: ['young', 'idle'], nextMs: 90_000 })
    expect(plan(times, 89_999)).toEqual({ due: ['young', 'idle'], nextMs: 90_000 })
    expect(plan(times, 90_000)).toEqual({ due: ['old', 'young', 'idle'], nextMs: null })
  })

  test('[HOST-36] none is waited for longer than the plane says; a plane that says nothing waits for none', ({ expect }) => {
    const times = new TakeTimes()
    times.note('old', 0)
    expect(plan(times, 25_000)).toEqual({ due: ['young', 'idle'], nextMs: MAX_MS - 10_000 })
    expect(plan(times, 25_000, 0)).toEqual({ due: ['old', 'young', 'idle'], nextMs: null })
  })

  test('[HOST-36] workers that are gone are forgotten', ({ expect }) => {
    const times = new TakeTimes()
    times.note('old', 0)
    times.keep(['young'])
    expect(plan(times, 25_000).due).toContain('old')
  })
})

describe('flags', () => {
  const flags = { url: 'http://localhost:8787/', portRange: '30000-32767', onExit: 'keep', onLeaseLoss: 'stop', logLevel: 'info' }

  test('have defaults', ({ expect }) => {
    expect(readOptions({ ...flags, name: 'gpu 1' }, {})).toMatchObject({
      planeUrl: 'http://localhost:8787',
      name: 'gpu 1',
      runtimes: undefined,
      publicIp: null,
      portRange: { from: 30_000, to: 32_767 },
    })
    expect(readOptions(flags, { PODPLANE_AGENT_STATE: '/var/lib/a' }).stateDir).toBe('/var/lib/a')
    expect(readOptions({ ...flags, runtime: ['docker,process'] }, {}).runtimes).toEqual(new Set(['docker', 'process']))
  })

  test('that are wrong are named', ({ expect }) => {
    expect(() => readOptions({ ...flags, url: 'localhost:8787' }, {})).toThrow(/^--url 'localhost:8787' is not/)
    expect(() => readOptions({ ...flags, runtime: ['podman'] }, {})).toThrow("--runtime 'podman' is unknown; use one of: docker, process")
    expect(() => readOptions({ ...flags, logLevel: 'loud' }, {})).toThrow(/^--log-level 'loud'/)
    for (const publicIp of ['gpu-07.example.com', '203.0.113', '', 'fe80::1%eth0']) {
      expect(() => readOptions({ ...flags, publicIp }, {})).toThrow(`--public-ip '${publicIp}' is not an IP address`)
    }
  })

  test('[HOST-40] address and port range of the machine', ({ expect }) => {
    for (const publicIp of ['203.0.113.7', '2001:db8::7']) expect(readOptions({ ...flags, publicIp }, {}).publicIp).toBe(publicIp)
    const range = (portRange: string) => readOptions({ ...flags, portRange }, {}).portRange
    expect([range('1024-1024'), range('1024-65535')]).toEqual([
      { from: 1_024, to: 1_024 },
      { from: 1_024, to: 65_535 },
    ])
    for (const text of ['1023-2000', '2000-65536', '2001-2000', '2000', '2000-', '-', 'a-b', '2000-3000-4000']) {
      expect(() => range(text)).toThrow(`--port-range '${text}' is no range of ports from 1024 to 65535`)
    }
  })
})
