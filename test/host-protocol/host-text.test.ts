import fc from 'fast-check'
import { hostText, withoutMachine } from '../../src/host-protocol/host-text.ts'
import { LogBatch } from '../../src/host-protocol/logs.ts'
import { OverlayGap, OverlayInventory } from '../../src/host-protocol/overlays.ts'
import { describe, expect, it } from '../support/unit.ts'

describe('[HOST-190] texts of a host', () => {
  it('keep readable characters, and lose those that control a terminal, reverse text or have no glyph', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const read = hostText(200).parse(text)
        expect(read).not.toMatch(/[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u)
        expect(hostText(200).parse(read)).toBe(read)
      }),
    )
    expect(hostText(20).parse('é 日本 👩‍🚀 a\tb\nc')).toBe('é 日本 👩‍🚀 a b c')
  })

  it('are refused beyond their length', () => {
    expect(hostText(5).safeParse('123456').success).toBe(false)
    expect(hostText(5, 1).safeParse('').success).toBe(false)
  })

  it('are those of every reason that networks of hosts have', () => {
    const inventory = { address: null, reason: '\u001b[2J', encryption: 'none', encryptionReason: 'a\u202eb' }
    expect(OverlayInventory.parse(inventory)).toMatchObject({ reason: ' [2J', encryptionReason: 'a b' })
    expect(OverlayGap.parse({ from: 'a', to: 'b', reason: 'x\ny' }).reason).toBe('x y')
  })
})

describe('[S17] [EDG-6] texts about a failure', () => {
  it.each([
    ['mount src=/run/podplane/7e/p, dst=/data', 'mount src=(a path of the host), dst=/data'],
    ['/var/lib/docker/overlay2/ab/merged: busy', '(a path of the host): busy'],
    ['open /home/ops/.podplane/agent.json', 'open (a path of the host)'],
    ['open /srv/podplane-state/x', 'open (a path of the host)'],
    ['/proc/self/fd/8 at /dev/fuse', '(a path of the host) at /dev/fuse'],
    ['dial tcp 10.1.2.3:2049: refused', 'dial tcp (an address of the host): refused'],
    ['dial tcp [fd00::1]:443', 'dial tcp (an address of the host)'],
    [
      'image pull failed: 10.0.0.5:5000/acme/x:1.2.3.4: the image does not exist',
      'image pull failed: 10.0.0.5:5000/acme/x:1.2.3.4: the image does not exist',
    ],
    ['no space is left for /workspace at /var/lib/mysql', 'no space is left for /workspace at /var/lib/mysql'],
  ])('lose paths and addresses of the machine: %s', (said, received) => {
    expect(withoutMachine(said)).toBe(received)
    expect(withoutMachine(received)).toBe(received)
  })

  it('take time in proportion to their length', () => {
    for (const text of ['/a'.repeat(8_000), `/${'a'.repeat(16_000)}`, '1.'.repeat(8_000), '/podplane'.repeat(1_800)]) {
      const startedMs = performance.now()
      withoutMachine(text)
      expect(performance.now() - startedMs).toBeLessThan(500)
    }
  })

  it('are cleaned in lines that the platform adds to a log, and not in those of a program', () => {
    const line = (source: 'system' | 'container', text: string) => {
      const batch = { workloadId: 'w', access: { kind: 'pod', ownerId: 'p', grant: 'g' }, lines: [{ seq: 1, at: 0, source, line: text }] }
      return LogBatch.parse(batch).lines[0]?.line
    }
    expect(line('system', '\u001b[2Jmounting /run/podplane/x')).toBe(' [2Jmounting (a path of the host)')
    expect(line('system', 'exited with code 1: open /var/lib/docker/x')).toBe('exited with code 1: open /var/lib/docker/x')
    expect(line('container', '\u001b[2J/run/podplane/x')).toBe('\u001b[2J/run/podplane/x')
  })
})
