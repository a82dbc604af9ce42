import { KEY_KINDS } from '../contract/key-kinds.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
/** The random bytes of a key's secret; they take at most 43 base62 digits. */
export const SECRET_BYTES = 32

const API_KEY = /^pp_([0-9a-z]{10})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/
const OPERATOR_KEY = /^ppo_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** The two parts of a key: the id finds its row, the secret proves the right to it. */
export interface ParsedKey {
  id: string
  secret: string
}

/** The text of an API key: `pp_<id>_<secret><checksum>` (AUT-1). `id` is 10 lower-case letters and digits. */
export function formatApiKey(id: string, secretBytes: Uint8Array): string {
  return withChecksum(`${KEY_KINDS.user}_${id}_${toBase62(secretBytes)}`)
}

/** Id and secret of an API key, or null for text that is not a well-formed key: such a key is refused without a lookup. */
export function parseApiKey(text: string): ParsedKey | null {
  const match = API_KEY.exec(text)
  if (match?.[1] === undefined || match[2] === undefined || !checksumHolds(text)) return null
  return { id: match[1], secret: match[2] }
}

/** The text of an operator key: `ppo_<secret><checksum>`. */
export function formatOperatorKey(secretBytes: Uint8Array): string {
  return withChecksum(`${KEY_KINDS.operator}_${toBase62(secretBytes)}`)
}

/** Whether a text has the form of an operator key and a correct checksum. */
export function isOperatorKey(text: string): boolean {
  return OPERATOR_KEY.test(text) && checksumHolds(text)
}

function withChecksum(text: string): string {
  return text + padBase62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function checksumHolds(text: string): boolean {
  return withChecksum(text.slice(0, -CHECKSUM_LENGTH)) === text
}

function toBase62(bytes: Uint8Array): string {
  const value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  return padBase62(value, SECRET_LENGTH)
}

function padBase62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = BASE62.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}

/** CRC-32 (IEEE) of ASCII text: it detects a mistyped key, and does not authenticate one. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index)
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
