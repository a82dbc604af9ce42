type Variables = Readonly<Record<string, string>>

/** Reference to a secret in an `env` value (ACC-6). An unclosed reference, or one with too long a name, is plain text. */
const REFERENCE = /\{\{ *RUNPOD_SECRET_([^\s{}]{1,191}) *\}\}/g

/** Limit of `NAME=value`, bytes: Linux starts no program with a longer variable. */
const MAX_VARIABLE_BYTES = 131_071
/** Limit of all variables of a workload as sent to its host, bytes (SECRET-6). */
const MAX_ENV_BYTES = 2 ** 20

/** Names of the secrets that variables reference, each once. */
export function referencedSecrets(env: Variables): string[] {
  return [...new Set(Object.values(env).flatMap((value) => Array.from(value.matchAll(REFERENCE), ([, name = '']) => name)))]
}

/**
 * Replaces references by secrets, once: references within an inserted value are not replaced. An unknown name becomes an empty text
 * (ACC-6).
 */
export function fillReferences(env: Variables, values: ReadonlyMap<string, string>): { env: Record<string, string>; unknown: string[] } {
  const fill = (text: string) => text.replace(REFERENCE, (_, name: string) => values.get(name) ?? '')
  return {
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
    unknown: referencedSecrets(env).filter((name) => !values.has(name)),
  }
}

/**
 * Why variables would be too large with secrets of these sizes filled in (SECRET-6); null when they would not. Computed from sizes alone,
 * without the secrets.
 */
export function refuseFilling(env: Variables, bytesOf: ReadonlyMap<string, number>): string | null {
  let total = 0
  for (const [name, value] of Object.entries(env)) {
    const filled = Array.from(value.matchAll(REFERENCE), ([, secret = '']) => bytesOf.get(secret) ?? 0).reduce(
      (sum, bytes) => sum + bytes,
      0,
    )
    const bytes = utf8Bytes(`${name}=${value.replace(REFERENCE, '')}`) + filled
    if (bytes > MAX_VARIABLE_BYTES) return `env ${name} is ${bytes} bytes with its secrets filled in; a program takes ${MAX_VARIABLE_BYTES}`
    total += bytes
  }
  return refuseTotal(total)
}

/** Checks the size of variables whose secrets are filled in, as JSON for the host; null when they are not too large. */
export function refuseFilled(env: Variables): string | null {
  return refuseTotal(utf8Bytes(JSON.stringify(env)))
}

function refuseTotal(bytes: number): string | null {
  return bytes > MAX_ENV_BYTES ? `env is ${bytes} bytes with its secrets filled in; a workload may have ${MAX_ENV_BYTES}` : null
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength
}
