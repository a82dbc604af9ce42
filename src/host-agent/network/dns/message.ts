import { type Answer, AUTHORITATIVE_ANSWER, type DecodedPacket, decode, encode, RECURSION_DESIRED, TRUNCATED_RESPONSE } from 'dns-packet'
import { type Decision, decide, type Question, TTL_SECONDS } from './decide.ts'
import type { Zone } from './zone.ts'

/** Response codes, RFC 1035 and RFC 6891. */
const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const
type Rcode = keyof typeof RCODE
const HEADER_BYTES = 12
/** Type and class after the name of a question. */
const QUESTION_TAIL_BYTES = 4
/** Limits of an answer over UDP: the size that every client accepts, and the size that avoids fragmentation (RFC 9715). */
const UDP_MIN_BYTES = 512
const UDP_MAX_BYTES = 1_232
const TCP_MAX_BYTES = 65_535
/** The EDNS record and a transaction signature. */
const ADDITIONALS_MAX = 2
const BAD_VERSION = 1

/** Transport of a DNS query, which limits the size of its answer. */
export type Transport = 'udp' | 'tcp'

interface Reply {
  rcode: Rcode
  decision?: Decision
  /** The question as received; absent: it cannot be parsed. */
  question?: { raw: Buffer; name: string }
  /** Present when the client uses EDNS. */
  edns?: { badVersion: boolean }
}

/**
 * Answers a message with any contents and never throws (NET-73). `zones` undefined: they are not known yet, and the answer is SERVFAIL.
 * Returns undefined for a message that must not be answered, such as an answer. Pure.
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

/** Parses the one question of a message and its EDNS record; undefined: the message is malformed. */
function read(packet: Buffer) {
  // Checked before decoding: a count alone would make the decoder allocate lists of that length.
  const [questions = 0, answers = 0, authorities = 0, additionals = 0] = [4, 6, 8, 10].map((at) => packet.readUInt16BE(at))
  if (questions !== 1 || answers > 0 || authorities > 0 || additionals > ADDITIONALS_MAX) return undefined
  const message = tryDecode(packet)
  const [first] = message?.questions ?? []
  if (message === undefined || first === undefined) return undefined
  const question: Question = { name: first.name, type: String(first.type), class: String(first.class) }
  // A name with a compression pointer, with dots inside a label or with bytes that are not text could not be repeated as received.
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

/** Encodes an answer. The question is copied byte by byte, because the library would write its name as it has decoded it. */
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

/** For a truncated answer: the client asks again over TCP. */
const WITHOUT_RECORDS = { decision: { rcode: 'NOERROR', records: [], domain: null } } as const

/** The SOA record: it limits the time for which a client caches that a name does not exist. */
function startOf(domain: string) {
  const data = { mname: domain, rname: `nobody.${domain}`, serial: 1, refresh: 60, retry: 60, expire: 60, minimum: TTL_SECONDS }
  return { type: 'SOA', name: domain, ttl: TTL_SECONDS, class: 'IN', data } as const
}

function optionsOf(isBadVersion: boolean): Answer {
  const extendedRcode = isBadVersion ? BAD_VERSION : 0
  return { type: 'OPT', name: '.', udpPayloadSize: UDP_MAX_BYTES, extendedRcode, ednsVersion: 0, flags: 0, flag_do: false, options: [] }
}
