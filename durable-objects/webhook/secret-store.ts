import { rotateSecrets, type SigningSecrets } from '../../src/domain/webhook/delivery.ts'
import { newSigningSecret } from '../../src/platform/webhook-signature.ts'

const KEY = 'signingSecrets'

/** A team's signing secrets: made on first use, kept nowhere else. */
export class SecretStore {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  get(): SigningSecrets {
    const row = this.sql.exec('SELECT value FROM meta WHERE key = ?', KEY).toArray()[0]
    return row ? JSON.parse(String(row.value)) : this.put({ current: newSigningSecret(), previous: null })
  }

  rotate(nowMs: number): SigningSecrets {
    return this.put(rotateSecrets(this.get(), newSigningSecret(), nowMs))
  }

  private put(secrets: SigningSecrets): SigningSecrets {
    this.sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', KEY, JSON.stringify(secrets))
    return secrets
  }
}
