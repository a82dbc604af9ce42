import type { PodStatus } from '../../../src/contract/enums.ts'
import { costOf, portsView, type ReachablePod, sshOf } from '../../../src/domain/pod/access.ts'
import { refuseCapacity, refuseStart } from '../../../src/domain/pod/place/refusal.ts'
import { isWaitOver } from '../../../src/domain/pod/wait.ts'
import { etagOf, matchesVersion } from '../../../src/domain/text/etag.ts'
import { describe, expect, it } from '../../support/unit.ts'

const POD: ReachablePod = {
  id: '7h9k2m4n6p',
  status: 'RUNNING',
  ports: [{ private: 22, public: 34_446, type: 'tcp' }],
  spec: { container: { image: '', args: '', diskGb: 1, env: {}, ports: ['22/tcp'], registry: null } },
  publicIp: '195.26.233.3',
  sshSuffix: '64411eb2',
}
const withPorts = (...ports: string[]) => ({ spec: { container: { ...POD.spec.container, ports } } })
const direct = (change: Partial<ReachablePod>) => sshOf({ ...POD, ...change }, null).direct

describe('ssh', () => {
  it('[NET-2] direct: by the published port of the running pod', () => {
    expect(direct({})).toEqual({ host: '195.26.233.3', port: 34_446, username: 'root', command: 'ssh root@195.26.233.3 -p 34446' })
  })

  it.each<[string, Partial<ReachablePod>]>([
    ['the pod does not run', { status: 'STARTING' }],
    ['22/tcp is not in ports', withPorts('22/http', '2222/tcp')],
    ['the port is not published', { ports: [] }],
    ['only another port is published', { ports: [{ private: 2222, public: 1, type: 'tcp' }] }],
    ['its host has no public address', { publicIp: null }],
  ])('[NET-2] direct is null when %s', (_why, change) => expect(direct(change)).toBeNull())

  it.each([
    [22, 'ssh 7h9k2m4n6p-64411eb2@ssh.example.com'],
    [2222, 'ssh 7h9k2m4n6p-64411eb2@ssh.example.com -p 2222'],
  ])('[NET-2] proxy on port %d: %s', (port, command) => {
    const username = '7h9k2m4n6p-64411eb2'
    expect(sshOf({ ...POD, status: 'EXITED' }, { host: 'ssh.example.com', port }).proxy).toEqual({
      host: 'ssh.example.com',
      port,
      username,
      command,
    })
  })
})

describe('ports', () => {
  it('[POD-21] http is never public, whatever the cloud of the pod; tcp is on the address of the host', () => {
    for (const id of ['', 'a', '7h9k2m4n6p', 'zzzzzzzzzzzzzz', ...Array.from({ length: 200 }, (_, n) => `pod${n}`)]) {
      const [http] = portsView({ ...POD, id, ports: [{ private: 80, public: 30_080, type: 'http' }] })
      const [a, b, c, d] = (http?.ip ?? '').split('.').map(Number)
      expect(a).toBe(100)
      expect((b ?? 0) >> 6).toBe(1)
      for (const part of [b, c, d]) expect(part).toBeLessThan(256)
      expect(http?.public).toBe(30_080)
    }
    expect(portsView(POD)).toEqual([{ private: 22, public: 34_446, type: 'tcp', ip: '195.26.233.3' }])
    expect(portsView({ ...POD, publicIp: null })).toMatchObject([{ ip: null }])
  })
})

describe('cost', () => {
  it.each<[PodStatus, number]>([
    ['PROVISIONING', 0.3],
    ['STARTING', 0.3],
    ['RUNNING', 0.3],
    ['EXITED', 0],
    ['ERROR', 0],
    ['TERMINATED', 0],
  ])('[POD-19] [POD-51] %s: %d', (status, cost) => expect(costOf({ status, pricePerHour: 0.1 * 3 })).toBe(cost))
})

describe('waiting', () => {
  const over = (status: PodStatus, wanted: PodStatus, hostLost = false) => isWaitOver({ status, hostLost }, wanted)
  it('[POD-44] ends at the awaited status, and at those that the pod cannot leave by itself', () => {
    const reachable: Record<string, PodStatus[]> = {
      PROVISIONING: ['STARTING', 'RUNNING', 'EXITED', 'ERROR'],
      STARTING: ['RUNNING', 'EXITED', 'ERROR'],
      RUNNING: ['EXITED', 'ERROR'],
      EXITED: [],
      ERROR: [],
      TERMINATED: [],
    }
    const all = Object.keys(reachable) as PodStatus[]
    for (const from of all) for (const to of all) expect(over(from, to), `${from} ${to}`).toBe(!reachable[from]?.includes(to))
    expect(over('ERROR', 'RUNNING', true)).toBe(false)
    expect(over('ERROR', 'ERROR', true)).toBe(true)
  })
})

describe('entity tags', () => {
  it.each([
    [undefined, true],
    ['*', true],
    [' * ', true],
    ['"3"', true],
    ['"1", "3"', true],
    ['"2"', false],
    ['W/"3"', false],
    ['3', false],
    ['', false],
    ['"33"', false],
  ])('[POD-40] If-Match %s on version 3: %s', (header, matches) => expect(matchesVersion(header, 3)).toBe(matches))

  it('[POD-40] the tag of a version is strong', () => expect(etagOf(3)).toBe('"3"'))
})

describe('refusals', () => {
  it('[POD-35] [WHY-21] constraints are counted over hosts, the most frequent first, without naming a host or what it has', () => {
    const failed = (hostId: string, ...texts: string[]) => ({ hostId, failed: texts })
    const refusals = [failed('h1', 'gpu A: 1 > 0', 'vcpu: 8 > 2'), failed('h2', 'gpu A: 1 > 0'), failed('h3', 'cloud: SECURE > COMMUNITY')]
    expect(refuseCapacity(refusals)).toMatchObject({
      code: 'NO_CAPACITY',
      errors: [
        'needs 1 free A: fails on 2 of 3 hosts',
        'needs 8 free vCPUs: fails on 1 of 3 hosts',
        'needs SECURE hardware: fails on 1 of 3 hosts',
      ],
    })
    expect(refuseCapacity([]).errors).toEqual(['hosts: none is online'])
    const many = Array.from({ length: 20 }, (_, n) => failed(`h${n}`, `c${n}: 1 > 0`))
    expect(refuseCapacity(many).errors).toHaveLength(16)
  })

  it('[POD-36] volumes that no host offers are the reason, beside the constraints', () => {
    const refusals = [{ hostId: 'h1', failed: ['networkVolumes: yes > none'] }]
    expect(refuseCapacity(refusals, { kind: 'network', dataCenterIds: ['A', 'B'] })).toEqual({
      key: 'badRequest',
      detail: 'No host in A, B offers network volumes. Ask the operator to set them up there, or create the pod without that mount.',
      code: 'NO_CAPACITY',
      errors: ['needs a host with network volumes: fails on 1 of 1 hosts'],
    })
    expect(refuseCapacity([], { kind: 'global', dataCenterIds: [] }).detail).toMatch(/^No host offers global volumes\. /)
  })

  it('[POD-17] keeps the part that other clients search for', () => {
    expect(refuseStart(true).detail).toContain('not enough free GPUs on the host machine')
    expect(refuseStart(false)).toMatchObject({ code: 'NO_CAPACITY' })
  })
})
