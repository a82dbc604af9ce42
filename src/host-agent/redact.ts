import { keyPattern } from '../contract/key-kinds.ts'
import type { Workload } from '../host-protocol/messages.ts'

const SECRETS: readonly RegExp[] = [keyPattern(4), /\bBearer\s+[^\s"',]+/gi]

/** Dotted texts, each matched as a whole: a pattern of a token itself would scan the rest of the text from every possible beginning. */
const DOTTED = /[\w-]+(?:\.[\w-]*)*/g
const TOKEN_HEAD = /\beyJ[\w-]{8}/

/**
 * Replaces anything that resembles a credential; applied to every log line and to every reason that leaves the host. Tenants write these
 * texts, so the time is linear in their length (HOST-106).
 */
export function redact(text: string): string {
  return SECRETS.reduce((clean, pattern) => clean.replace(pattern, '[redacted]'), text.replace(DOTTED, withoutTokens))
}

/** Redacts JSON web tokens, with or without their signature part. */
function withoutTokens(dotted: string): string {
  const words = dotted.split('.')
  const clean: string[] = []
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? ''
    const start = (words[at + 1] ?? '') === '' ? -1 : word.search(TOKEN_HEAD)
    clean.push(start < 0 ? word : `${word.slice(0, start)}[redacted]`)
    at += start < 0 ? 1 : 3
  }
  return clean.join('.')
}

/** Complete keys of this platform. Names in a program, such as `pp_rank`, remain: tenants see their own output unchanged. */
const PLATFORM_KEY = keyPattern(40)
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD)$/
/** Shorter values are not secrets, and redacting them would remove ordinary words. */
const SECRET_MIN_CHARS = 8

/** Secrets that the platform put into a workload; the workload's log must not contain them. */
export function secretsOf(workload: Workload): string[] {
  const secrets = Object.entries(workload.platformEnv).filter(([name, value]) => SECRET_NAME.test(name) && value.length >= SECRET_MIN_CHARS)
  return secrets.map(([, value]) => value)
}

/** A line of a workload's output without the platform's secrets (HOST-14). */
export function redactOutput(line: string, secrets: readonly string[]): string {
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), line)
  return clean.replace(PLATFORM_KEY, '[redacted]')
}
