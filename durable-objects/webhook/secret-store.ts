import { rotateSecrets, type SigningSecrets } from '../../src/domain/webhook/delivery.ts'
import type { Place, Vault } from '../../src/platform/seal.ts'
import { newSigningSecret } from '../../src/platform/webhook-signature.ts'

const KEY = 'signingSecrets'

/** A team's signing secrets: created on first use, stored only here, and sealed (SEAL-2). */
export class SecretStore {
  private readonly sql: SqlStorage
  private readonly vault: Vault
  private readonly place: Place

  /** `objectId`: the object whose storage this is. */
  constructor(sql: SqlStorage, vault: Vault, objectId: string) {
    this.sql = sql
    this.vault = vault
    this.place = ['signing secrets', objectId]
  }

  get(): SigningSecrets {
    const row = this.sql.exec('SELECT value FROM meta WHERE key = ?', KEY).toArray()[0]
    return row ? JSON.parse(this.open(String(row.value))) : this.put({ current: newSigningSecret(), previous: null })
  }

  rotate(nowMs: number): SigningSecrets {
    return this.put(rotateSecrets(this.get(), newSigningSecret(), nowMs))
  }

  private put(secrets: SigningSecrets): SigningSecrets {
    this.sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', KEY, this.vault.seal(this.place, JSON.stringify(secrets)))
    return secrets
  }

  /** Reseals secrets that are stored under a previous secret of the plane or in plain text. */
  reseal(): void {
    const row = this.sql.exec('SELECT value FROM meta WHERE key = ?', KEY).toArray()[0]
    if (row && !this.vault.isCurrent(String(row.value))) this.put(this.get())
  }

  // Rows of a release without sealing are JSON.
  private open(kept: string): string {
    if (kept.startsWith('{')) return kept
    const text = this.vault.open(this.place, kept)
    if (text === null)
      throw new Error('signing secrets were sealed under a TOKEN_SECRET that this plane does not have: add it to TOKEN_SECRET_PREVIOUS')
    return text
  }
}
