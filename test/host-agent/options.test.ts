import { describe, test } from 'vitest'
import { readOptions } from '../../src/host-agent/options.ts'

describe('flags', () => {
  const flags = {
    url: 'http://localhost:8787/',
    httpIp: '127.0.0.1',
    overlayEncryption: 'auto',
    portRange: '30000-32767',
    onExit: 'keep',
    onLeaseLoss: 'stop',
    workerTransport: 'http',
    logLevel: 'info',
  }

  test('have defaults', ({ expect }) => {
    expect(readOptions({ ...flags, name: 'gpu 1' }, {})).toMatchObject({
      planeUrl: 'http://localhost:8787',
      name: 'gpu 1',
      runtimes: new Set(['docker']),
      publicIp: null,
      portRange: { from: 30_000, to: 32_767 },
    })
    expect(readOptions(flags, { PODPLANE_AGENT_STATE: '/var/lib/a' }).stateDir).toBe('/var/lib/a')
    expect(readOptions({ ...flags, runtime: ['docker,process'] }, {}).runtimes).toEqual(new Set(['docker', 'process']))
  })

  test('are named when they are wrong', ({ expect }) => {
    expect(() => readOptions({ ...flags, url: 'localhost:8787' }, {})).toThrow(/^--url 'localhost:8787' is not/)
    expect(() => readOptions({ ...flags, runtime: ['podman'] }, {})).toThrow("--runtime 'podman' is unknown; use one of: docker, process")
    expect(() => readOptions({ ...flags, logLevel: 'loud' }, {})).toThrow(/^--log-level 'loud'/)
    for (const publicIp of ['gpu-07.example.com', '203.0.113', '', 'fe80::1%eth0']) {
      expect(() => readOptions({ ...flags, publicIp }, {})).toThrow(`--public-ip '${publicIp}' is not an IP address`)
    }
  })

  test('[HOST-91][H10] built-in images are off until they are named', ({ expect }) => {
    expect(readOptions(flags, {}).runtimes).toEqual(new Set(['docker']))
    // Docker too, where it answers.
    expect(readOptions({ ...flags, builtinImages: true }, {}).runtimes).toBeUndefined()
    expect(readOptions({ ...flags, runtime: ['process'] }, {}).runtimes).toEqual(new Set(['process']))
    expect(readOptions({ ...flags, runtime: ['docker'], builtinImages: true }, {}).runtimes).toEqual(new Set(['docker', 'process']))
  })

  test('[HOST-82] private ranges that containers may reach', ({ expect }) => {
    const allowed = (...allowNetwork: string[]) => readOptions({ ...flags, allowNetwork }, {}).allowNetworks
    expect([readOptions(flags, {}).allowNetworks, allowed('10.1.2.0/24, 10.1.3.4', '192.168.7.0/24')]).toEqual([
      [],
      ['10.1.2.0/24', '10.1.3.4/32', '192.168.7.0/24'],
    ])
    for (const text of ['10.1.2.3/24', 'fd00::/8', 'nas.example.com', '', '10.0.0.0/8 accept']) {
      expect(() => allowed(text)).toThrow(`--allow-network '${text}' is not an IPv4 range`)
    }
  })

  test('[HOST-87] class of the container runtime', ({ expect }) => {
    expect(readOptions(flags, {}).runtimeClass).toBe('runc')
    expect(readOptions({ ...flags, runtimeClass: 'kata' }, {}).runtimeClass).toBe('kata')
    expect(() => readOptions({ ...flags, runtimeClass: 'gvisor' }, {})).toThrow(
      "--runtime-class 'gvisor' is unknown; use one of: runc, runsc, kata",
    )
  })

  test('[L6] [HOST-80] plain http to another machine is refused, unless the operator says that its network is private', ({ expect }) => {
    const urlOf = (url: string, insecurePlane?: boolean) =>
      readOptions({ ...flags, url, ...(insecurePlane === undefined ? {} : { insecurePlane }) }, {}).planeUrl
    const remote = [
      'http://plane.example.com',
      'http://10.0.0.1:8787',
      'http://127.example.com',
      'http://[2001:db8::1]:1',
      'http://localhost.example',
    ]
    for (const url of remote) {
      expect(() => urlOf(url)).toThrow(/^--url 'http:.* is plain http to another machine.*--insecure-plane/)
      expect(urlOf(url, true)).toBe(url)
      expect(urlOf(url.replace('http', 'https'))).toBe(url.replace('http', 'https'))
    }
    const own = ['http://127.0.0.1:8787', 'http://127.1.2.3', 'http://localhost:1', 'http://[::1]:8787', 'http://plane.localhost']
    expect(own.map((url) => urlOf(url))).toEqual(own)
  })

  test('[HOST-160] encryption between hosts', ({ expect }) => {
    const read = (overlayEncryption: string) => readOptions({ ...flags, overlayEncryption }, {}).overlayEncryption
    expect(['auto', 'require', 'off'].map(read)).toEqual(['auto', 'require', 'off'])
    expect(() => read('yes')).toThrow("--overlay-encryption 'yes' is unknown; use one of: auto, require, off")
  })

  test('[HOST-40] address and port range of the machine', ({ expect }) => {
    for (const publicIp of ['203.0.113.7', '2001:db8::7']) expect(readOptions({ ...flags, publicIp }, {}).publicIp).toBe(publicIp)
    const range = (portRange: string) => readOptions({ ...flags, portRange }, {}).portRange
    expect([range('1024-1024'), range('1024-65535')]).toEqual([
      { from: 1_024, to: 1_024 },
      { from: 1_024, to: 65_535 },
    ])
    for (const text of ['1023-2000', '2000-65536', '2001-2000', '2000', '2000-', '-', 'a-b', '2000-3000-4000']) {
      expect(() => range(text)).toThrow(`--port-range '${text}' is not a port range from 1024 to 65535`)
    }
  })
})
