import { describe, expect, test } from 'vitest'
import { macOf, memberName, overlayTable, tableOfTunnel, tunnelName } from '../../../../src/host-agent/network/overlay/names.ts'
import { localOverlay } from '../../../../src/host-agent/network/overlay/overlay-devices.ts'
import { buildMachineRules, buildOverlayRules } from '../../../../src/host-agent/network/overlay/overlay-rules.ts'

const KEY = 'abcde'
const RED = {
  id: 'red',
  vni: 0x10_0001,
  tunnel: 'px-abcde1234567',
  members: [
    { device: 'pv-abcde0000001', mac: '0a:58:0a:40:01:02', address: '10.64.1.2' },
    { device: 'pv-abcde0000002', mac: '0a:58:0a:40:01:03', address: '10.64.1.3' },
  ],
  encrypted: { device: 'pw-abcde', peers: [] },
  plain: ['10.0.0.2', '10.0.0.3'],
}

describe('rules of private networks', () => {
  test('[HOST-141] forward only frames with its own addresses', () => {
    const rules = buildOverlayRules(KEY, RED)
    expect(rules).toContain(
      'iifname . ether saddr . ip saddr { "pv-abcde0000001" . 0a:58:0a:40:01:02 . 10.64.1.2, "pv-abcde0000002" . 0a:58:0a:40:01:03 . 10.64.1.3 } goto onward',
    )
    expect(rules).toContain('ether daddr 0a:58:0a:40:01:03 fwd to "pv-abcde0000002"')
    expect(rules.match(/policy drop/g)).toHaveLength(2)
    expect(rules).not.toContain('accept')
  })

  test('[HOST-142] let tunnels in from hosts of the same network only, and from none where it has no other host', () => {
    const rules = buildMachineRules(KEY, [RED, { ...RED, vni: 9, plain: [] }])
    expect(rules).toContain('udp dport 4789 @th,96,24 1048577 ip saddr != { 10.0.0.2, 10.0.0.3 } drop')
    expect(rules).toContain('udp dport 4789 @th,96,24 9 drop')
    expect(rules).toContain('iifname "pv-abcde*" drop')
    expect(rules).toContain('oifname "px-abcde*" drop')
  })

  test('[HOST-141] names fit into an interface, differ by agent, network and workload, and lead back to their table', () => {
    const names = [
      tunnelName(KEY, 'red'),
      tunnelName('other', 'red'),
      tunnelName(KEY, 'blue'),
      memberName(KEY, 'p-1', 'red'),
      memberName(KEY, 'p-2', 'red'),
    ]
    expect(new Set(names).size).toBe(names.length)
    expect(names.every((name) => name.length <= 15 && !name.startsWith('pp-'))).toBe(true)
    expect(tableOfTunnel(KEY, tunnelName(KEY, 'red'))).toBe(overlayTable(KEY, 'red'))
    expect(tableOfTunnel(KEY, tunnelName('other', 'red'))).toBeUndefined()
    expect(macOf('10.64.1.254')).toBe('0a:58:0a:40:01:fe')
  })

  test('[HOST-142] other hosts of a network are its members without this one and those that are on none', () => {
    const members = ['10.0.0.1', '10.0.0.3', '10.0.0.2', '10.0.0.3', null].map((hostAddress, rank) => ({
      podId: `p${rank}`,
      address: `10.64.1.${rank + 2}`,
      hostAddress,
      names: [],
    }))
    const overlay = { id: 'red', vni: 9, cidr: '10.64.1.0/24', members }
    const own = { address: '10.0.0.1', wire: null, isPlainRefused: false }
    expect(localOverlay(KEY, own, { overlay, attached: [] }).plain).toEqual(['10.0.0.2', '10.0.0.3'])
  })

  test('[HOST-161] let the tunnels of a host that encrypts in where that comes in, and nowhere else', () => {
    const rules = buildMachineRules(KEY, [{ ...RED, encrypted: { device: 'pw-abcde', peers: ['10.0.0.2'] }, plain: ['10.0.0.3'] }])
    expect(rules).toContain('udp dport 4789 @th,96,24 1048577 ip saddr != { 10.0.0.2, 10.0.0.3 } drop')
    expect(rules).toContain('iifname != "pw-abcde" udp dport 4789 @th,96,24 1048577 ip saddr { 10.0.0.2 } drop')
  })

  test('[HOST-164] admit only tunnels from encrypted traffic, and forward none of it', () => {
    const rules = buildMachineRules(KEY, [RED])
    expect(rules).toContain('iifname "pw-abcde" meta l4proto != udp drop')
    expect(rules).toContain('iifname "pw-abcde" udp dport != 4789 drop')
    expect(rules).toContain('iifname "pw-abcde" drop\n')
    expect(rules).toContain('oifname "pw-abcde" drop\n')
  })
})
