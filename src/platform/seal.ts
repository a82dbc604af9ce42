import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { fromBase64, toBase64, toBase64Url, toHex } from './encoding.ts'

/** What is derived from the secrets of the plane, and how they are called where they are set. */
export interface MasterSecrets {
  TOKEN_SECRET: string
  /** Former values, separated by commas: what was sealed or signed under them stays good until they are taken out. */
  TOKEN_SECRET_PREVIOUS?: string
}

/** Where a sealed text lies: its use first, then what tells its place from every other (table, row, field, team). It opens nowhere else. */
export type Place = readonly [use: string, ...where: string[]]

/** How a text of before there were envelopes was sealed: which use its key was derived for, and what it was bound to. */
export interface FormerSeal {
  info: string
  boundTo: string
}

const VERSION = 'pps1'
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_LENGTH = 8
/** 96 bits: two values of one place are never taken for equal by chance. */
const DIGEST_LENGTH = 16
/** Shorter than this is taken as "not set": an empty or toy secret seals nothing. */
const MIN_SECRET_LENGTH = 16

const encoder = new TextEncoder()

/**
 * The present master secret and the former ones. Throws when there is none that could be one, because whatever were derived from it would be
 * known to everybody (PP-210).
 */
export function masterSecrets({ TOKEN_SECRET, TOKEN_SECRET_PREVIOUS }: MasterSecrets): readonly [string, ...string[]] {
  requireSecret('TOKEN_SECRET', TOKEN_SECRET)
  const former = (TOKEN_SECRET_PREVIOUS ?? '').split(',').map((secret) => secret.trim())
  return [TOKEN_SECRET, ...former.filter((secret) => secret.length >= MIN_SECRET_LENGTH && secret !== TOKEN_SECRET)]
}

/** Refuses a secret of the plane that is missing or too short to be one, by its name. */
export function requireSecret(name: string, value: string | undefined): void {
  if (typeof value === 'string' && value.length >= MIN_SECRET_LENGTH) return
  throw new Error(`${name} is not set, or shorter than ${MIN_SECRET_LENGTH} characters: this plane cannot run without it (docs/deploy.md)`)
}

/** The vault of a plane, made once for each set of secrets. */
export function vaultOf(secrets: MasterSecrets): Vault {
  const name = `${secrets.TOKEN_SECRET}\n${secrets.TOKEN_SECRET_PREVIOUS ?? ''}`
  const vault = vaults.get(name) ?? new Vault(masterSecrets(secrets))
  vaults.set(name, vault)
  return vault
}

/** An isolate has one set of secrets; tests have a few. */
const vaults = new Map<string, Vault>()

/**
 * What the plane keeps of secrets is sealed here (PP-211): AES-256-GCM with a fresh IV, under a key that is derived (HKDF-SHA-256) from the
 * master secret for one use, bound to its place. The envelope names the master secret, `pps1.<key id>.<base64>`, so that several may be in
 * use at once. Everything is synchronous: rows are sealed inside transactions.
 */
export class Vault {
  private readonly masters: readonly { id: string; secret: string; keys: Map<string, Uint8Array> }[]

  /** The first seals; all of them open. */
  constructor(secrets: readonly string[]) {
    this.masters = secrets.map((secret) => ({ id: keyIdOf(secret), secret, keys: new Map() }))
  }

  /** The envelope of a text for its place. */
  seal(place: Place, text: string): string {
    const [master] = this.masters
    if (!master) throw new Error('a vault without a secret seals nothing')
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const cipher = createCipheriv(ALGORITHM, keyOf(master, place[0]), iv)
    cipher.setAAD(encoder.encode(JSON.stringify(place)))
    const parts = [iv, cipher.update(encoder.encode(text)), cipher.final(), cipher.getAuthTag()]
    return `${VERSION}.${master.id}.${toBase64(concat(parts))}`
  }

  /**
   * The text again; null when it was sealed under a secret that is gone, for another place, or has been tampered with. `former` says how a
   * text without an envelope was sealed.
   */
  open(place: Place, sealed: string, former?: FormerSeal): string | null {
    const [version, keyId, body] = sealed.split('.')
    if (version === VERSION && body !== undefined) {
      const master = this.masters.find(({ id }) => id === keyId)
      return master ? decrypt(keyOf(master, place[0]), body, JSON.stringify(place)) : null
    }
    if (!former) return null
    for (const master of this.masters) {
      const text = decrypt(keyOf(master, former.info), sealed, former.boundTo)
      if (text !== null) return text
    }
    return null
  }

  /** Whether a stored text is an envelope of the present secret, so that nothing is gained by sealing it anew. */
  isCurrent(stored: string): boolean {
    return stored.startsWith(`${VERSION}.${this.masters[0]?.id}.`)
  }

  /** A keyed hash of a value at its place: tells equal values there, and cannot be tried out by whoever has no secret (PP-212). */
  digest(place: Place, text: string): string {
    const [master] = this.masters
    const key = keyOf(master ?? { secret: '', keys: new Map() }, `digest of ${place[0]}`)
    const mac = createHmac('sha256', key)
      .update(JSON.stringify([...place, text]))
      .digest('base64')
    return toBase64Url(fromBase64(mac)).slice(0, DIGEST_LENGTH)
  }
}

/** Names a master secret without telling anything of it. */
function keyIdOf(secret: string): string {
  const id = createHmac('sha256', encoder.encode(secret)).update('podplane key id').digest('base64')
  return toHex(fromBase64(id)).slice(0, KEY_ID_LENGTH)
}

function keyOf(master: { secret: string; keys: Map<string, Uint8Array> }, use: string): Uint8Array {
  const known = master.keys.get(use)
  if (known) return known
  const key = new Uint8Array(hkdfSync('sha256', encoder.encode(master.secret), encoder.encode('podplane'), encoder.encode(use), KEY_BYTES))
  master.keys.set(use, key)
  return key
}

function decrypt(key: Uint8Array, body: string, boundTo: string): string | null {
  try {
    const bytes = fromBase64(body)
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
    decipher.setAAD(encoder.encode(boundTo))
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
    const parts = [decipher.update(bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES)), decipher.final()]
    // A byte order mark is a character of the text like any other.
    return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(concat(parts))
  } catch {
    return null
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
