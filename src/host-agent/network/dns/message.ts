import { type Answer, AUTHORITATIVE_ANSWER, type DecodedPacket, decode, encode, RECURSION_DESIRED, TRUNCATED_RESPONSE } from 'dns-packet'
import { type Decision, decide, type Question, TTL_SECONDS } from './decide.ts'
import type { Zone } from './zone.ts'

/** Codes of an answer, RFC 1035 and RFC 6891. */
const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const
type Rcode = keyof typeof RCODE
const HEADER_BYTES = 12
/** Type and class behind the name of a question. */
const QUESTION_TAIL_BYTES = 4
/** Largest answer over UDP: what anybody takes, and what passes unfragmented by RFC 9715. */
const UDP_MIN_BYTES = 512
const UDP_MAX_BYTES = 1_232
const TCP_MAX_BYTES = 65_535
/** The record of EDNS and a signature of the transaction. */
const ADDITIONALS_MAX = 2
const BAD_VERSION = 1

export type Transport = 'udp' | 'tcp'

interface Reply {
  rcode: Rcode
  decision?: Decision
  /** The question as it came; absent: it is not readable. */
  question?: { raw: Buffer; name: string }
  /** Whoever asks speaks EDNS. */
  edns?: { badVersion: boolean }
}

/**
 * The answer to a message, whatever it is made of: it never throws (NET-73). `zones` undefined: it is not known yet what there is, and the asker
 * hears that. Undefined: nothing is to be answered, to an answer say. Pure.
 */
export function answerMessage(packet: Buffer, transport: Transport, zones: readonly Zone[] | undefined): Buffer | undefined {
  if (packet.length < HEADER_BYTES || (packet.readUInt16BE(2) & 0x80_00) !== 0) return undefined
  const head = { id: packet.readUInt16BE(0), flags: packet.readUInt16BE(2) & RECURSION_DESIRED }
  if (((packet.readUInt16BE(2) >> 11) & 15) !== 0) return build(head, { rcode: 'NOTIMP' }, TCP_MAX_BYTES)
  const asked = read(packet)
  if (asked === undefined) return build(head, { rcode: 'FORMERR' }, TCP_MAX_BYTES)
  const { question, raw, edns } = asked
  const maxBytes = transport === 'tcp' ? TCP_MAX_BYTES : Math.min(Math.max(edns?.udpPayloadSize ?? 0, UDP_MIN_BYTES), UDP_MAX_BYTES)
  const common = { question: { raw, name: question.name }, ...(edns && { edns: { badVersion: edns.ednsVersion > 0 } }) }
  if (common.edns?.badVersion) return build(head, { ...common, rcode: 'NOERROR' }, maxBytes)
  if (zones === undefined) return build(head, { ...common, rcode: 'SERVFAIL' }, maxBytes)
  const decision = decide(question, zones)
  return build(head, { ...common, rcode: decision.rcode, decision }, maxBytes)
}

/** One question, and what comes with it; undefined: it is not made as such messages are. */
function read(packet: Buffer) {
  // Before anything is decoded: a count alone makes lists of that length.
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => packet.readUInt16BE(at)) as [
    number,
    number,
    number,
    number,
  ]
  if (questions !== 1 || answers > 0 || authorities > 0 || additionals > ADDITIONALS_MAX) return undefined
  const message = tryDecode(packet)
  const [first] = message?.questions ?? []
  if (message === undefined || first === undefined) return undefined
  const question: Question = { name: first.name, type: String(first.type), class: String(first.class) }
  // A name with a pointer, with dots inside of a label or with bytes that are no text would not be echoed as it came.
  const name = encode({ questions: [{ type: 'A', name: question.name }] }).subarray(HEADER_BYTES, -QUESTION_TAIL_BYTES)
  const end = HEADER_BYTES + name.length
  if (!/^[!-~]+$/.test(question.name) || !packet.subarray(HEADER_BYTES, end).equals(name)) return undefined
  const edns = message.additionals?.find((record) => record.type === 'OPT')
  return { question, raw: packet.subarray(HEADER_BYTES, end + QUESTION_TAIL_BYTES), edns }
}

function tryDecode(packet: Buffer): DecodedPacket | undefined {
  try {
    return decode(packet)
  } catch {
    return undefined
  }
}

/** The library would write a name as it reads it, so the question goes back byte by byte. */
function build(head: { id: number; flags: number }, reply: Reply, maxBytes: number): Buffer {
  const { rcode, decision, question, edns } = reply
  const name = question?.name ?? '.'
  const domain = decision?.domain ?? null
  const records = decision?.records ?? []
  const isAuthority = decision !== undefined && rcode !== 'REFUSED'
  const whole = encode({
    type: 'response',
    id: head.id,
    flags: head.flags | RCODE[rcode] | (isAuthority ? AUTHORITATIVE_ANSWER : 0),
    answers: records.map((record) => ({ ...record, name, ttl: TTL_SECONDS, class: 'IN' })),
    authorities: records.length === 0 && domain !== null ? [startOf(domain)] : [],
    additionals: edns === undefined ? [] : [optionsOf(edns.badVersion)],
  })
  const size = whole.length + (question?.raw.length ?? 0)
  if (size > maxBytes) return build({ ...head, flags: head.flags | TRUNCATED_RESPONSE }, { ...reply, ...WITHOUT_RECORDS }, TCP_MAX_BYTES)
  if (question === undefined) return whole
  whole.writeUInt16BE(1, 4)
  return Buffer.concat([whole.subarray(0, HEADER_BYTES), question.raw, whole.subarray(HEADER_BYTES)])
}

/** Whoever reads this asks again over TCP. */
const WITHOUT_RECORDS = { decision: { rcode: 'NOERROR', records: [], domain: null } } as const

/** The record that says how long nobody needs to ask again for a name that is not there. */
function startOf(domain: string) {
  const data = { mname: domain, rname: `nobody.${domain}`, serial: 1, refresh: 60, retry: 60, expire: 60, minimum: TTL_SECONDS }
  return { type: 'SOA', name: domain, ttl: TTL_SECONDS, class: 'IN', data } as const
}

function optionsOf(isBadVersion: boolean): Answer {
  const extendedRcode = isBadVersion ? BAD_VERSION : 0
  return { type: 'OPT', name: '.', udpPayloadSize: UDP_MAX_BYTES, extendedRcode, ednsVersion: 0, flags: 0, flag_do: false, options: [] }
}
