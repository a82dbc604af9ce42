import { type DecodedPacket, decode, encode, type OptAnswer, type RecordType } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerMessage, type Transport } from '../../../../src/host-agent/network/dns/message.ts'
import { type Zone, zoneOf } from '../../../../src/host-agent/network/dns/zone.ts'
import type { Overlay } from '../../../../src/host-protocol/overlays.ts'

const DOMAIN = 'podplane.internal'
const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

const member = (address: string, ...names: string[]) => ({ podId: 'p', address, hostAddress: null, names })
const zone = (members: Overlay['members']) => zoneOf({ domain: DOMAIN, members }) as Zone
const PODS = zone([member('10.96.0.2', `pod1.${DOMAIN}`), member('10.96.0.3', `pod2.${DOMAIN}`)])
const CLUSTER = zone([member('10.64.1.2', 'node-0'), member('10.64.1.3', 'node-1')])

function question(name: string, type: RecordType = 'A', edns?: Partial<OptAnswer>): Buffer {
  const option = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: 4_096,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  } as const
  const additionals = edns === undefined ? [] : [{ ...option, options: [], ...edns }]
  return encode({ type: 'query', id: 4_660, flags: 256, questions: [{ type, name, class: 'IN' }], additionals })
}

function ask(packet: Buffer, zones: readonly Zone[] | undefined = [PODS, CLUSTER], transport: Transport = 'udp'): DecodedPacket {
  const answer = answerMessage(packet, transport, zones)
  if (answer === undefined) throw new Error('no answer')
  return decode(answer)
}

function said(packet: Buffer, zones?: readonly Zone[]) {
  const { flags, answers } = ask(packet, zones)
  return [RCODES[(flags ?? 0) & 15], ...(answers ?? []).map((one) => ('data' in one ? one.data : null))]
}

describe('[NET-70] names of the tenant that asks', () => {
  test.each([
    [`pod1.${DOMAIN}`, 'A', ['NOERROR', '10.96.0.2']],
    [`POD1.Podplane.Internal`, 'A', ['NOERROR', '10.96.0.2']],
    [`pod1.${DOMAIN}`, 'AAAA', ['NOERROR']],
    [`pod1.${DOMAIN}`, 'TXT', ['NOERROR']],
    ['node-1', 'A', ['NOERROR', '10.64.1.3']],
    [`node-1.${DOMAIN}`, 'A', ['NOERROR', '10.64.1.3']],
    [`node-1.${DOMAIN}`, 'AAAA', ['NOERROR']],
    [DOMAIN, 'A', ['NOERROR']],
    ['2.0.96.10.in-addr.arpa', 'PTR', ['NOERROR', `pod1.${DOMAIN}`]],
    ['3.1.64.10.in-addr.arpa', 'PTR', ['NOERROR', `node-1.${DOMAIN}`]],
  ] as const)('%s %s', (name, type, expected) => expect(said(question(name, type))).toEqual(expected))

  test('are echoed as in the question, with a short time to live', () => {
    const { answers, questions, id, flag_aa } = ask(question('Node-1', 'A'))
    expect({ id, flag_aa, asked: questions?.[0]?.name, answers }).toMatchObject({
      id: 4_660,
      flag_aa: true,
      asked: 'Node-1',
      answers: [{ name: 'Node-1', type: 'A', ttl: 5, data: '10.64.1.3' }],
    })
    const { authorities } = ask(question(`node-1.${DOMAIN}`, 'AAAA'))
    expect(authorities).toMatchObject([{ type: 'SOA', name: DOMAIN, ttl: 5, data: { minimum: 5 } }])
  })

  test('are unknown before the first state of the plane, and from a plane that does not send its domain', () => {
    expect(RCODES[(decode(answerMessage(question('node-1'), 'udp', undefined) ?? Buffer.alloc(12)).flags ?? 0) & 15]).toBe('SERVFAIL')
    expect(zoneOf({ members: [member('10.64.1.2', 'node-0')] })).toBeUndefined()
    expect(said(question('node-1'), [])).toEqual(['REFUSED'])
  })
})

test('[NET-71] a name of another network gets the same bytes as a name that does not exist', () => {
  const label = fc.stringMatching(/^[a-z0-9]{6}$/)
  fc.assert(
    fc.property(label, label, fc.constantFrom('A', 'AAAA', 'PTR', 'ANY', 'TXT'), fc.boolean(), (theirs, nobodys, type, isEdns) => {
      fc.pre(theirs !== nobodys)
      const others = zone([member('10.96.0.9', `${theirs}.${DOMAIN}`)])
      const packet = (name: string) => question(`${name}.${DOMAIN}`, type as RecordType, isEdns ? {} : undefined)
      const bytes = (name: string) => answerMessage(packet(name), 'udp', [PODS])?.toString('latin1').replace(name, '')
      expect(bytes(theirs)).toBe(bytes(nobodys))
      expect(said(packet(theirs), [PODS])).toEqual(['NXDOMAIN'])
      if (type === 'A') expect(said(packet(theirs), [others])).toEqual(['NOERROR', '10.96.0.9'])
    }),
  )
})

describe('[NET-72] names outside the network', () => {
  test.each([
    'example.org',
    'podplane.internal.example.org',
    'notpodplane.internal',
    'internal',
    'localhost',
    'metadata.google.internal',
    '1.1.1.1.in-addr.arpa',
    '1.0.0.0.8.7.4.0.1.0.0.2.ip6.arpa',
  ])('%s is refused', (name) => {
    for (const type of ['A', 'AAAA', 'PTR', 'AXFR'] as const) expect(said(question(name, type))).toEqual(['REFUSED'])
  })

  test.each([
    '1.0.17.172.in-addr.arpa',
    '254.169.254.169.in-addr.arpa',
    '9.0.96.10.in-addr.arpa',
    '10.in-addr.arpa',
    '1.0.0.127.in-addr.arpa',
    '1.0.88.10.IN-ADDR.ARPA',
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.e.f.ip6.arpa',
    'd.f.ip6.arpa',
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa',
  ])('%s has no name: the address is not public', (name) => expect(said(question(name, 'PTR'))).toEqual(['NXDOMAIN']))
})

describe('[NET-73] messages', () => {
  test('of any bytes are answered within bounds or not at all', () => {
    const seeds = [question('node-1'), question(`pod1.${DOMAIN}`, 'AAAA', {}), question('2.0.96.10.in-addr.arpa', 'PTR')]
    const mutated = fc
      .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 }), fc.nat(80))
      .map(([seed, changes, cut]) => {
        const bytes = Buffer.from(seed)
        for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte
        return bytes.subarray(0, Math.max(0, bytes.length - (cut > 40 ? cut - 40 : 0)))
      })
    const packets = fc.oneof(
      mutated,
      fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    )
    fc.assert(
      fc.property(packets, fc.constantFrom<Transport>('udp', 'tcp'), (packet, transport) => {
        const answer = answerMessage(packet, transport, [PODS, CLUSTER])
        if (answer === undefined) return
        expect(answer.length).toBeLessThanOrEqual(transport === 'udp' ? 1_232 : 65_535)
        expect(answer.subarray(0, 2)).toEqual(packet.subarray(0, 2))
        expect(decode(answer).type).toBe('response')
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    ['with two questions', encode({ questions: [0, 1].map(() => ({ type: 'A' as const, name: 'node-1' })) }), 1],
    ['with 65535 questions', Buffer.from('00010100ffff000000000000', 'hex'), 1],
    ['with a pointer', Buffer.from('000101000001000000000000c00000010001', 'hex'), 1],
    [
      'with a dot in a label',
      Buffer.concat([Buffer.from('000101000001000000000000', 'hex'), Buffer.from('\x0anode-1.abc\0\0\x01\0\x01', 'latin1')]),
      1,
    ],
    ['without an end', Buffer.from('000101000001000000000000066e6f', 'hex'), 1],
    ['that change something', Buffer.from('000128000001000000000000', 'hex'), 4],
  ])('%s', (_what, packet, rcode) => expect((ask(packet).flags ?? 0) & 15).toBe(rcode))

  test('that are answers, or no messages, are not answered', () => {
    const answer = answerMessage(question('node-1'), 'udp', [CLUSTER]) ?? Buffer.alloc(0)
    expect(answerMessage(answer, 'udp', [CLUSTER])).toBeUndefined()
    expect(answerMessage(Buffer.alloc(11), 'udp', [CLUSTER])).toBeUndefined()
  })

  test('EDNS: its record is returned, a larger answer is allowed, another version is refused', () => {
    const many = zone(Array.from({ length: 40 }, (_, at) => member(`10.64.1.${at + 2}`, 'node-0')))
    const [small, large, tcp] = [
      ask(question('node-0'), [many]),
      ask(question('node-0', 'A', { udpPayloadSize: 1_232 }), [many]),
      ask(question('node-0'), [many], 'tcp'),
    ]
    // 40 answers do not fit in 512 bytes.
    expect([small.flag_tc, small.answers?.length]).toEqual([true, 0])
    expect([large.flag_tc, large.answers?.length]).toEqual([false, 40])
    expect([tcp.flag_tc, tcp.answers?.length]).toEqual([false, 40])
    expect([small.additionals, large.additionals]).toMatchObject([[], [{ type: 'OPT', udpPayloadSize: 1_232, extendedRcode: 0 }]])
    const { additionals, answers } = ask(question('node-0', 'A', { ednsVersion: 1 }), [many])
    expect([answers, additionals]).toMatchObject([[], [{ extendedRcode: 1 }]])
  })
})
