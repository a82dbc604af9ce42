type Variables = Readonly<Record<string, string>>

/** How an `env` value names a secret (ACC-6). What has no end, or a longer name than any, is text like any other. */
const REFERENCE = /\{\{ *RUNPOD_SECRET_([^\s{}]{1,191}) *\}\}/g

/** A variable with its name and the sign between: Linux starts no program with a longer one. */
const MAX_VARIABLE_BYTES = 131_071
/** All variables of a workload as its host is told of them (SEC-6). */
const MAX_ENV_BYTES = 2 ** 20

/** Names of the secrets that variables name, each once. */
export function referencedSecrets(env: Variables): string[] {
  return [...new Set(Object.values(env).flatMap((value) => Array.from(value.matchAll(REFERENCE), ([, name = '']) => name)))]
}

/** Variables with secrets filled in, once: what a value says is not looked at. A name that is not known stands for nothing (ACC-6). */
export function fillReferences(env: Variables, values: ReadonlyMap<string, string>): { env: Record<string, string>; unknown: string[] } {
  const fill = (text: string) => text.replace(REFERENCE, (_, name: string) => values.get(name) ?? '')
  return {
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
    unknown: referencedSecrets(env).filter((name) => !values.has(name)),
  }
}

/** Why variables would be too large with secrets of these bytes filled in (SEC-6); null when they are not. Nothing is filled in for that. */
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

/** The same of variables that are filled in, as a host is told of them. */
export function refuseFilled(env: Variables): string | null {
  return refuseTotal(utf8Bytes(JSON.stringify(env)))
}

function refuseTotal(bytes: number): string | null {
  return bytes > MAX_ENV_BYTES ? `env is ${bytes} bytes with its secrets filled in; a workload may have ${MAX_ENV_BYTES}` : null
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength
}
