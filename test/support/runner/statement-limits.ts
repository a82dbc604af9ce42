import { env } from 'cloudflare:workers'

/** Limits of a statement of D1 on Cloudflare. The local D1 has larger ones, so a statement beyond them would fail only there. */
const MAX_PARAMETERS = 100
const MAX_TEXT_BYTES = 100_000

const { DB } = env as unknown as { DB: D1Database }
const statement = Object.getPrototypeOf(DB.prepare('SELECT 1')) as D1PreparedStatement & { isLimited?: boolean }
// Files share one runtime, and with it the class.
if (!statement.isLimited) {
  statement.isLimited = true
  const { bind } = statement
  statement.bind = function (this: D1PreparedStatement, ...values: unknown[]) {
    const text = (this as unknown as { statement: string }).statement
    if (values.length > MAX_PARAMETERS || text.length > MAX_TEXT_BYTES) {
      throw new Error(`D1 refuses this statement: ${values.length} parameters, ${text.length} bytes: ${text.slice(0, 500)}`)
    }
    return bind.apply(this, values)
  }
}
