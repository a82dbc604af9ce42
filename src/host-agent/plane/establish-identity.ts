import type { Inventory } from '../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText, OperatorError } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { AccessTokens, IdentityRefused } from './access-tokens.ts'
import type { PlaneClock } from './clock-offset.ts'
import { enrol, type HostIdentity, readHostIdentity, withoutAdvice } from './enrolment.ts'
import type { HostKey } from './host-key.ts'

const RETRY_BASE_MS = 500
const RETRY_MAX_MS = 10_000

export interface EstablishDeps {
  options: { planeUrl: string; joinToken: string | undefined; name: string; stateDir: string }
  log: Log
  key: HostKey
  clock: PlaneClock
  inventory: Inventory
  shutdown: AbortSignal
}

/** This machine as a host of the plane. */
export interface Host {
  identity: HostIdentity
  tokens: AccessTokens
  /** The previous identity, refused by the plane, when the host had to join again; workloads that run under it must be stopped. */
  previousHostId: string | undefined
}

/**
 * Returns the identity of this host: the stored one, or a new one for the join token. Waits while the plane cannot be reached; returns
 * undefined only after `shutdown`.
 */
export async function establishIdentity(deps: EstablishDeps): Promise<Host | undefined> {
  const stored = readHostIdentity(deps.options.stateDir)
  if (stored === undefined) return await join(deps, undefined)
  const tokens = new AccessTokens({ planeUrl: deps.options.planeUrl, key: deps.key, identity: stored, clock: deps.clock })
  try {
    await tokens.get()
  } catch (error) {
    if (error instanceof IdentityRefused) return await joinAgain(deps, stored, error)
    // The plane cannot be reached: the agent still supervises its workloads, and the link keeps trying to connect.
  }
  return { identity: stored, tokens, previousHostId: undefined }
}

async function joinAgain(deps: EstablishDeps, stored: HostIdentity, error: IdentityRefused): Promise<Host | undefined> {
  if (deps.options.joinToken === undefined) throw refusedIdentity(stored, error)
  deps.log.warn('the plane does not know this host; joining again', { hostId: stored.hostId, detail: error.message })
  return await join(deps, stored.hostId)
}

/** The error for a host that the plane has removed, with the next step. */
export function refusedIdentity(identity: HostIdentity, error: IdentityRefused): OperatorError {
  return new OperatorError(
    `the plane rejects host ${identity.hostId} (${withoutAdvice(error.message)}); pass a new join token with --token to join again`,
  )
}

async function join(deps: EstablishDeps, previousHostId: string | undefined): Promise<Host | undefined> {
  const { options, log, key, clock, inventory, shutdown } = deps
  const { joinToken, planeUrl, stateDir, name } = options
  if (joinToken === undefined) {
    throw new OperatorError(
      `--token is missing and --state-dir ${stateDir} has no enrolled host; create a join token and pass it with --token`,
    )
  }
  for (let attempt = 0; !shutdown.aborted; attempt += 1) {
    const result = await enrol({ planeUrl, stateDir, joinToken, name, key, inventory, clock }).catch((error: unknown) => {
      if (error instanceof OperatorError) throw error
      return { retry: errorText(error) }
    })
    if (!('retry' in result)) {
      const tokens = new AccessTokens({ planeUrl, key, identity: result.identity, clock })
      tokens.accept(result.answer)
      log.info('enrolled', { hostId: result.identity.hostId, dataCenter: result.identity.dataCenterId })
      return { identity: result.identity, tokens, previousHostId }
    }
    const waitMs = backoffMs(attempt, RETRY_BASE_MS, RETRY_MAX_MS)
    log.warn(`cannot reach the plane at ${planeUrl} (${result.retry}); trying again in ${(waitMs / 1000).toFixed(1)} s`)
    await sleep(waitMs, shutdown)
  }
  return undefined
}
