import { statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findEncryption } from '../../../../../src/host-agent/network/overlay/encryption/find-encryption.ts'
import { loadHostKey } from '../../../../../src/host-agent/network/overlay/encryption/host-key.ts'
import { routeTable } from '../../../../../src/host-agent/network/overlay/encryption/wire-names.ts'
import { WireGuard } from '../../../../../src/host-agent/network/overlay/encryption/wireguard.ts'
import { peersOf } from '../../../../../src/host-agent/network/overlay/peers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const KEY = 'abcde'
const TABLE = String(routeTable(KEY))
const [ADA, BOB] = [`${'a'.repeat(43)}=`, `${'b'.repeat(43)}=`] as const

/** A machine on which programs print the given outputs, or fail. */
function machine(answers: Record<string, string | Error> = {}) {
  const ran: string[] = []
  const run = async (program: string, args: readonly string[], input = '') => {
    const command = [program, ...args].join(' ')
    ran.push(...(input === '' ? [command] : input.trim().split('\n')))
    const found = Object.entries(answers).find(([start]) => command.startsWith(start))?.[1] ?? ''
    if (found instanceof Error) throw found
    return found
  }
  return { run, ran }
}

const hostKey = { privatePath: '/state/wireguard.key', publicKey: ADA }
const RULES = ['dport', 'sport'].map((end) => `priority 478 ipproto udp ${end} 4789 lookup ${TABLE}`)

describe('encryption between hosts', () => {
  test('[HOST-161] peers, rule and routes are made: traffic is blocked first and allowed last', async () => {
    const { ran, run } = machine({ 'wg show': 'private\tother\t0\toff\n' })
    const wire = new WireGuard({ key: KEY, hostKey, kind: 'kernel', run })
    await wire.keep([{ address: '10.0.0.2', publicKey: BOB }], [], 1_420)
    expect(ran).toEqual([
      `ip -4 -json route show table ${TABLE}`,
      `route add prohibit 10.0.0.2 table ${TABLE} metric 4000`,
      'ip -4 -json rule show',
      ...RULES.flatMap((rule) => [`ip -4 rule delete ${rule}`, `ip -4 rule add ${rule}`]),
      'ip link add pw-abcde type wireguard',
      'wg show pw-abcde dump',
      'wg set pw-abcde private-key /state/wireguard.key listen-port 51821',
      `wg set pw-abcde peer ${BOB} endpoint 10.0.0.2:51821 allowed-ips 10.0.0.2/32`,
      'ip link set pw-abcde mtu 1420 addrgenmode none up',
      `route replace 10.0.0.2 dev pw-abcde table ${TABLE}`,
    ])
  })

  test('[HOST-161] the present configuration stays, and a host that left the networks gets no traffic', async () => {
    const peer = (publicKey: string, address: string) => `${publicKey}\t(none)\t${address}:51821\t${address}/32\t0\t0\t0\toff`
    const { ran, run } = machine({
      'wg show': `private\t${ADA}\t51821\toff\n${peer(BOB, '10.0.0.2')}\n${peer('old', '10.0.0.9')}\n`,
      'ip -4 -json route show': JSON.stringify(
        ['10.0.0.2', '10.0.0.9'].flatMap((dst) => [
          { dst, dev: 'pw-abcde' },
          { type: 'prohibit', dst },
        ]),
      ),
      'ip -4 -json rule show': JSON.stringify([{ table: 'local' }, { table: TABLE }, { table: TABLE }]),
    })
    const wire = new WireGuard({ key: KEY, hostKey, kind: 'kernel', run })
    await wire.keep([{ address: '10.0.0.2', publicKey: BOB }], [{ ifname: 'pw-abcde', mtu: 1_420, flags: ['UP'] }], 1_420)
    expect(ran.filter((command) => !/ show /.test(command) && !command.endsWith(' show'))).toEqual([
      `route flush 10.0.0.9 table ${TABLE}`,
      'wg set pw-abcde peer old remove',
      `route replace 10.0.0.2 dev pw-abcde table ${TABLE}`,
    ])
  })

  test('[HOST-161] traffic to hosts with a key is encrypted; to those without it is plain, or blocked where encryption is required', () => {
    const members = ['10.0.0.1', '10.0.0.2', '10.0.0.3', null].map((hostAddress, rank) => {
      return { podId: `p${rank}`, address: `10.64.1.${rank + 2}`, hostAddress, names: [] }
    })
    const hosts = [
      { address: '10.0.0.1', publicKey: ADA },
      { address: '10.0.0.2', publicKey: BOB },
    ]
    const overlay = { id: 'red', vni: 9, cidr: '10.64.1.0/24', members, hosts }
    const own = { address: '10.0.0.1', wire: { device: 'pw-abcde' } }
    const encrypted = [{ address: '10.0.0.2', publicKey: BOB }]
    expect(peersOf(overlay, { ...own, isPlainRefused: false })).toEqual({ encrypted, plain: ['10.0.0.3'], refused: [] })
    expect(peersOf(overlay, { ...own, isPlainRefused: true })).toEqual({ encrypted, plain: [], refused: ['10.0.0.3'] })
    const bare = { ...own, wire: null, isPlainRefused: false }
    expect(peersOf(overlay, bare)).toEqual({ encrypted: [], plain: ['10.0.0.2', '10.0.0.3'], refused: [] })
  })

  test('[HOST-160] is the kernel’s where it has WireGuard, and is tried without a trace', async () => {
    const { ran, run } = machine()
    const stateDir = tempDir('wire')
    const found = await findEncryption({ mode: 'auto', key: KEY, stateDir, tools: { links: async () => [] }, run })
    expect(found).toMatchObject({ device: 'pw-abcde', publicKey: loadHostKey(stateDir).publicKey })
    expect(ran).toEqual([
      'ip link add pw-abcdetry type wireguard',
      `wg set pw-abcdetry private-key ${stateDir}/wireguard.key listen-port 51821`,
      'ip link set pw-abcdetry up',
      'ip link delete pw-abcdetry',
    ])
  })

  test('[HOST-160] elsewhere it is off with a reason, and a user-space program does it where it is required', async () => {
    const bare = { 'ip link add': new Error('Unknown device type.') }
    const find = async (mode: 'auto' | 'require' | 'off', answers: Record<string, Error>) => {
      const { ran, run } = machine(answers)
      const stateDir = tempDir('wire')
      return { found: await findEncryption({ mode, key: KEY, stateDir, tools: { links: async () => [] }, run }), ran }
    }
    expect((await find('auto', bare)).found).toEqual({ reason: 'the kernel has no WireGuard (Unknown device type.)' })
    expect((await find('require', bare)).found).toBeInstanceOf(WireGuard)
    expect((await find('require', bare)).ran).toContain('wireguard-go pw-abcdetry')
    const missing = { ...bare, 'wireguard-go': new Error('the program wireguard-go is not installed') }
    expect((await find('require', missing)).found).toEqual({
      reason:
        'the kernel has no WireGuard (Unknown device type.); wireguard-go does not work either (the program wireguard-go is not installed)',
    })
    const toolless = await find('auto', { 'wg set': new Error('the program wg is not installed') })
    expect(toolless.found).toEqual({ reason: 'WireGuard cannot be set up (the program wg is not installed)' })
    expect(toolless.ran).toContain('ip link delete pw-abcdetry')
    const off = await find('off', {})
    expect(off.found).toEqual({ reason: '--overlay-encryption is off' })
    expect(off.ran).toEqual([...RULES.map((rule) => `ip -4 rule delete ${rule}`), `ip -4 route flush table ${TABLE}`])
  })

  test('[HOST-160] the interface of a previous agent process stays in use, and is removed where encryption is off', async () => {
    const links = async () => [{ ifname: 'pw-abcde', flags: ['UP'], mtu: 1_420, linkinfo: { info_kind: 'tun' } }]
    const { ran, run } = machine()
    const stateDir = tempDir('wire')
    expect(await findEncryption({ mode: 'require', key: KEY, stateDir, tools: { links }, run })).toBeInstanceOf(WireGuard)
    expect(ran).toEqual([])
    await findEncryption({ mode: 'off', key: KEY, stateDir, tools: { links }, run })
    expect(ran.at(-1)).toBe('ip link delete pw-abcde')
  })

  test('[HOST-160] the key of a host is made once, and only its user reads it', () => {
    const stateDir = tempDir('wire')
    const made = loadHostKey(stateDir)
    expect(made.publicKey).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    expect(loadHostKey(stateDir)).toEqual(made)
    expect(statSync(made.privatePath).mode & 0o777).toBe(0o600)
    writeFileSync(made.privatePath, 'damaged\n')
    expect(() => loadHostKey(stateDir)).toThrow('is damaged')
  })
})
