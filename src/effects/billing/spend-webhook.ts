import type { WatchedTeam } from '../../db/billing/spend-watch.ts'
import type { SpendStop, SpendWarning } from '../../domain/billing/spend-watch.ts'
import type { Env } from '../../env.ts'
import { handOverHeaders } from '../../objects/hand-over.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { webhookSenderStub } from '../../objects/stubs.ts'
import { type Place, vaultOf } from '../../platform/seal.ts'

/** Seals the URL of an account's spend webhook for storage, because a URL may hold a secret. */
export function sealSpendWebhook(env: Env, teamId: string, url: string): string {
  return vaultOf(env).seal(placeOf(teamId), url)
}

/** Opens a sealed webhook URL. Throws when it was sealed under a secret that is gone. */
export function openSpendWebhook(env: Env, teamId: string, sealed: string): string {
  const url = vaultOf(env).open(placeOf(teamId), sealed)
  if (url === null) throw new Error(`the webhook of spend_limits ${teamId} was sealed under a TOKEN_SECRET that this plane does not have`)
  return url
}

/**
 * Hands a warning to the account's webhook sender, which signs and retries it like a job webhook. Throws when the sender does not accept
 * it.
 */
export function sendSpendWarning(env: Env, team: WatchedTeam, warning: SpendWarning): Promise<void> {
  const { limit, month } = warning.data
  // A month has one warning per setting of the limits; a rate can approach its limit repeatedly.
  const name = limit === 'MONTH' ? `${month}_${team.updatedAt}` : String(Date.parse(warning.timestamp))
  return handOver(env, team, `msg_spend_${name}`, warning)
}

/** Hands a notice of stopped pods to the account's webhook sender (BIL-29). Throws when the sender does not accept it. */
export function sendSpendStop(env: Env, team: WatchedTeam, stop: SpendStop): Promise<void> {
  return handOver(env, team, `msg_stop_${Date.parse(stop.timestamp)}`, stop)
}

async function handOver(env: Env, { teamId, webhookSealed }: WatchedTeam, id: string, message: SpendWarning | SpendStop): Promise<void> {
  if (webhookSealed === null) return
  const body = new TextEncoder().encode(JSON.stringify(message))
  const about = { endpointId: null, jobId: null, teamId }
  const delivery = { id, ...about, url: openSpendWebhook(env, teamId, webhookSealed), bytes: body.length }
  const sender = webhookSenderStub(env, asPlane('team', teamId, 'sends a notification'))
  const init = { method: 'POST', headers: handOverHeaders(delivery), body }
  const response = await sender.fetch('https://webhook-sender/deliveries', init)
  if (!response.ok) throw new Error(`the webhook sender answered ${response.status}`)
}

function placeOf(teamId: string): Place {
  return ['spend_limits', teamId, 'webhook']
}
