import { type EcrRepository, ecrArn } from '../../domain/resources/ecr.ts'
import { type Env, readSettings } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { logEvent } from '../../platform/log.ts'
import { ExchangeError, exchangeToken, type RegistryToken } from './aws-exchange.ts'
import type { Delegator } from './session-name.ts'

/** A token of AWS, or the reason why there is none. */
export type DelegatedToken = ({ ok: true } & RegistryToken) | { ok: false; reason: string }

/** Lifetime of a cached token, shorter than a session of the role. */
const TOKEN_TTL_MS = 45 * 60_000
/** Minimum remaining lifetime of a cached token, so that a pull that starts with it can finish. */
const MIN_LEFT_MS = 15 * 60_000
/** Pause after a failed exchange before AWS is asked again. */
const FAILURE_TTL_MS = 30_000
const MAX_ENTRIES = 1000

const tokens = new ExpiringCache<RegistryToken>(TOKEN_TTL_MS, MAX_ENTRIES)
const failures = new ExpiringCache<string>(FAILURE_TTL_MS, MAX_ENTRIES)

/** Returns a token for a delegated repository, cached by this isolate or new (REG-8), or the reason why there is none. */
export async function delegatedToken(env: Env, delegator: Delegator, repository: EcrRepository): Promise<DelegatedToken> {
  // No request: an object makes the workload. One instant for the cache and for the signature that AWS checks.
  const nowMs = Date.now()
  const { aws } = readSettings(env)
  if ('fault' in aws) return refuse(repository, aws.fault)
  const name = `${aws.roleArn}\n${aws.accessKeyId}\n${delegator.teamId}\n${delegator.userId}\n${ecrArn(repository)}`
  const kept = tokens.get(name, nowMs)
  if (kept && kept.expiresAtMs - MIN_LEFT_MS > nowMs) return { ok: true, ...kept }
  const failed = failures.get(name, nowMs)
  if (failed !== undefined) return refuse(repository, failed)
  try {
    const token = await exchangeToken(aws, delegator, repository, nowMs)
    tokens.set(name, token, nowMs)
    return { ok: true, ...token }
  } catch (error) {
    const reason = error instanceof ExchangeError ? error.message : 'AWS cannot be reached'
    failures.set(name, reason, nowMs)
    logEvent('warn', 'no token for a delegated repository', { ...delegator, repository: ecrArn(repository), reason, error })
    return refuse(repository, reason)
  }
}

/** Drops all cached tokens and failures of this isolate. */
export function dropDelegatedTokens(): void {
  tokens.clear()
  failures.clear()
}

function refuse(repository: EcrRepository, why: string): { ok: false; reason: string } {
  return { ok: false, reason: `the image is pulled by delegation, but this plane could not get a token for ${ecrArn(repository)}: ${why}` }
}
