import { describe, expect, test } from 'vitest'
import type { EncryptionMode } from '../../../../src/host-agent/network/overlay/encryption/find-encryption.ts'
import { WireGuard } from '../../../../src/host-agent/network/overlay/encryption/wireguard.ts'
import type { IpTools, Link } from '../../../../src/host-agent/network/overlay/ip-tools.ts'
import { findUnderlay } from '../../../../src/host-agent/network/overlay/underlay.ts'
import { FakeNft } from '../../support/fake-nft.ts'

/** A machine with one interface, which refuses what begins with `refused`. */
function machine(refused = '-', link: Partial<Link> = {}) {
  const commands: string[] = []
  const tools: IpTools = {
    apply: async (wanted) => {
      commands.push(...wanted)
      if (wanted.some((command) => command.startsWith(refused))) throw new Error('Operation not supported')
    },
    applyForwarding: async () => {},
    links: async () => [{ ifname: 'net0', flags: [], mtu: 1_500, ...link }],
    addresses: async () => [],
    neighbours: async () => [],
    forwarding: async () => [],
    routeTo: async () => ({ device: 'net0', source: '10.0.0.7' }),
  }
  const encryption: EncryptionMode = 'auto'
  return { tools, commands, nft: new FakeNft(), encryption, openEncryption: async () => ({ reason: 'the kernel has no WireGuard' }) }
}

describe('the underlay of tunnels', () => {
  test('[HOST-140] is the address of the default route, once a tunnel was built there and removed', async () => {
    const { commands, nft, ...deps } = machine()
    expect(await findUnderlay({ key: 'abcde', address: undefined, nft, ...deps })).toEqual({
      device: 'net0',
      address: '10.0.0.7',
      encryption: 'none',
      encryptionReason: 'the kernel has no WireGuard',
      wire: null,
      isPlainRefused: false,
      mtu: 1_450,
    })
    expect(commands[0]).toMatch(/^link add px-abcdetry type vxlan id 167\d{5} dstport 4789 local 10\.0\.0\.7 nolearning$/)
    expect(commands.slice(1)).toEqual(['link delete px-abcdetry'])
    expect(nft.tables.size).toBe(0)
  })

  test('[HOST-140] is encrypted where WireGuard is below', async () => {
    const below = machine('-', { linkinfo: { info_kind: 'wireguard' }, mtu: 1_420 })
    expect(await findUnderlay({ key: 'abcde', address: undefined, ...below })).toEqual({
      device: 'net0',
      address: '10.0.0.7',
      encryption: 'wireguard',
      wire: null,
      isPlainRefused: false,
      mtu: 1_370,
    })
  })

  test('[HOST-160] is encrypted by the agent where it can, with less room for members; nowhere where it must and cannot', async () => {
    const hostKey = { privatePath: '/state/wireguard.key', publicKey: 'public' }
    const wire = new WireGuard({ key: 'abcde', hostKey, kind: 'kernel', run: async () => '' })
    const able = { ...machine('-', { mtu: 9_000 }), openEncryption: async () => wire }
    const found = { device: 'net0', address: '10.0.0.7', encryption: 'wireguard', wire, isPlainRefused: false, mtu: 8_870 }
    expect(await findUnderlay({ key: 'abcde', address: undefined, ...able })).toEqual(found)
    expect(await findUnderlay({ key: 'abcde', address: undefined, ...able, encryption: 'require' })).toEqual({
      ...found,
      isPlainRefused: true,
    })
    expect(await findUnderlay({ key: 'abcde', address: undefined, ...machine(), encryption: 'require' })).toEqual({
      reason: 'encryption, which --overlay-encryption requires, is not available: the kernel has no WireGuard',
    })
  })

  test('[HOST-140] does not exist on a machine without tunnels, rules or that address, and the reason names which', async () => {
    const bare = machine('link add')
    expect(await findUnderlay({ key: 'abcde', address: undefined, ...bare })).toEqual({ reason: 'Operation not supported' })
    const unruled = machine()
    unruled.nft.failure = new Error('the program nft is not installed')
    expect(await findUnderlay({ key: 'abcde', address: undefined, ...unruled })).toEqual({ reason: 'the program nft is not installed' })
    expect(unruled.commands.at(-1)).toBe('link delete px-abcdetry')
    expect(await findUnderlay({ key: 'abcde', address: '192.0.2.77', ...machine() })).toEqual({
      reason: '--overlay-address 192.0.2.77 is no address of this machine',
    })
  })
})
