import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { fromBase64, toBase64, toBase64Url, toHex } from './encoding.ts'

/** Master secrets of the plane, under the names of their variables. */
export interface MasterSecrets {
  TOKEN_SECRET: string
  /** Previous values, separated by commas. Data that was sealed or signed under them stays valid until they are removed. */
  TOKEN_SECRET_PREVIOUS?: string
}

/**
 * The place of a sealed text: its use, then the parts that distinguish it from every other place (table, row, field, team). The text can be
 * opened only there.
 */
export type Place = readonly [use: string, ...where: string[]]

/** The parameters of a seal without an envelope, the older format: the use that its key was derived for, and its associated data. */
export interface LegacySeal {
  info: string
  boundTo: string
}

const VERSION = 'pps1'
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_LENGTH = 8
/** 96 bits: two different values of one place never have the same digest by chance. */
const DIGEST_LENGTH = 16
/** Shortest valid secret, characters: a shorter one counts as not set. */
const MIN_SECRET_LENGTH = 16

const encoder = new TextEncoder()

/**
 * Returns the current master secret and the previous ones. Throws if no valid secret is set, because any secret derived from it would be
 * public (SEAL-1).
 */
export function masterSecrets({ TOKEN_SECRET, TOKEN_SECRET_PREVIOUS }: MasterSecrets): readonly [string, ...string[]] {
  requireSecret('TOKEN_SECRET', TOKEN_SECRET)
  const previous = (TOKEN_SECRET_PREVIOUS ?? '').split(',').map((secret) => secret.trim())
  return [TOKEN_SECRET, ...previous.filter((secret) => secret.length >= MIN_SECRET_LENGTH && secret !== TOKEN_SECRET)]
}

/** Throws if a secret of the plane is missing or too short; the error contains its name. */
export function requireSecret(name: string, value: string | undefined): void {
  if (typeof value === 'string' && value.length >= MIN_SECRET_LENGTH) return
  throw new Error(`${name} is not set, or shorter than ${MIN_SECRET_LENGTH} characters: this plane cannot run without it (docs/deploy.md)`)
}

/** Returns the vault for a set of secrets; it is created once. */
export function vaultOf(secrets: MasterSecrets): Vault {
  const name = `${secrets.TOKEN_SECRET}\n${secrets.TOKEN_SECRET_PREVIOUS ?? ''}`
  const vault = vaults.get(name) ?? new Vault(masterSecrets(secrets))
  vaults.set(name, vault)
  return vault
}

/** Vaults by secrets: an isolate has one set, tests have several. */
const vaults = new Map<string, Vault>()

/**
 * Seals secrets that the plane stores (SEAL-2): AES-256-GCM with a fresh IV, under a key that is derived by HKDF-SHA-256 from the master
 * secret for one use; the place is associated data. The envelope names the master secret, `pps1.<key id>.<base64>`, so that several can be
 * in use at once. All methods are synchronous, because rows are sealed inside transactions.
 */
export class Vault {
  private readonly masters: readonly { id: string; secret: string; keys: Map<string, Uint8Array> }[]

  /** The first secret seals; all of them open. */
  constructor(secrets: readonly string[]) {
    this.masters = secrets.map((secret) => ({ id: keyIdOf(secret), secret, keys: new Map() }))
  }

  /** Seals a text for its place and returns the envelope. Throws when the plane has no master secret. */
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
   * Opens a sealed text. Returns null if it was sealed under a secret that has been removed or for another place, or if it was tampered
   * with. `previous` gives the parameters of a text without an envelope.
   */
  open(place: Place, sealed: string, previous?: LegacySeal): string | null {
    const [version, keyId, body] = sealed.split('.')
    if (version === VERSION && body !== undefined) {
      const master = this.masters.find(({ id }) => id === keyId)
      return master ? decrypt(keyOf(master, place[0]), body, JSON.stringify(place)) : null
    }
    if (!previous) return null
    for (const master of this.masters) {
      const text = decrypt(keyOf(master, previous.info), sealed, previous.boundTo)
      if (text !== null) return text
    }
    return null
  }

  /** Whether a stored text is sealed under the current secret, so that resealing it is unnecessary. */
  isCurrent(stored: string): boolean {
    return stored.startsWith(`${VERSION}.${this.masters[0]?.id}.`)
  }

  /**
   * Returns a keyed hash of a value at its place: equal values have equal hashes, and a guess cannot be tested without the secret (END-34).
   */
  digest(place: Place, text: string): string {
    const [master] = this.masters
    const key = keyOf(master ?? { secret: '', keys: new Map() }, `digest of ${place[0]}`)
    const mac = createHmac('sha256', key)
      .update(JSON.stringify([...place, text]))
      .digest('base64')
    return toBase64Url(fromBase64(mac)).slice(0, DIGEST_LENGTH)
  }
}

/** Returns an id of a master secret that reveals nothing about it. */
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
    // A byte order mark is an ordinary character of the text.
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
