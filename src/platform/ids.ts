import { customAlphabet } from 'nanoid'
import { KEY_KINDS } from '../contract/key-kinds.ts'
import { isReservedWord } from '../contract/reserved-words.ts'
import { toBase64Url } from './encoding.ts'

const LOWER_ALPHANUMERIC = '0123456789abcdefghijklmnopqrstuvwxyz'
const RESOURCE_ID_LENGTH = 14
/** 40 of 36 characters are above 200 bits: a token cannot be guessed within its lifetime. */
const TOKEN_LENGTH = 40

const randomId = customAlphabet(LOWER_ALPHANUMERIC, RESOURCE_ID_LENGTH)
const randomToken = customAlphabet(LOWER_ALPHANUMERIC, TOKEN_LENGTH)

/** A new resource id (GEN-1): 14 lower-case letters and digits, never a reserved word of REST (CFG-2). */
export function newResourceId(): string {
  const id = randomId()
  return isReservedWord(id) ? newResourceId() : id
}

/** A new API key id: 10 lower-case letters and digits. */
export const newKeyId = customAlphabet(LOWER_ALPHANUMERIC, 10)

/** A password for a pod's Jupyter server: 24 of 36 characters are above 120 bits. */
export const newJupyterPassword = customAlphabet(LOWER_ALPHANUMERIC, 24)

/** A shared key of the members of a SLURM cluster (MUNGE): 1024 random bits, base64. */
export function newMungeKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(128))))
}

/** The random part of a pod's SSH proxy user: 8 hex digits (NET-2). */
export const newSshSuffix = customAlphabet('0123456789abcdef', 8)

/**
 * An id that sorts by time: 9 base-36 digits hold milliseconds until the year 5188; 10 random ones distinguish ids of the same millisecond.
 */
export function newAuditId(nowMs: number): string {
  return nowMs.toString(36).padStart(9, '0') + newKeyId()
}

/** A new secret of a console session, a sign-in link or a device login: 43 characters with 256 random bits. */
export function newSessionSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

/** A new join token: `ppj_<random>`. */
export function newJoinToken(): string {
  return `${KEY_KINDS.joinToken}_${randomToken()}`
}

/** A new invitation token: `ppi_<random>`. */
export function newInvitationToken(): string {
  return `${KEY_KINDS.invitation}_${randomToken()}`
}
