import type { Env } from '../env.ts'
import { type Place, vaultOf } from '../platform/seal.ts'

/** Where an account's warnings go, as it is kept: an address may hold a secret. */
export function sealSpendWebhook(env: Env, teamId: string, url: string): string {
  return vaultOf(env).seal(placeOfSpendWebhook(teamId), url)
}

/** The address again. Throws when it was sealed under a secret that is gone. */
export function openSpendWebhook(env: Env, teamId: string, sealed: string): string {
  const url = vaultOf(env).open(placeOfSpendWebhook(teamId), sealed)
  if (url === null) throw new Error(`the webhook of spend_limits ${teamId} was sealed under a TOKEN_SECRET that this plane does not have`)
  return url
}

export function placeOfSpendWebhook(teamId: string): Place {
  return ['spend_limits', teamId, 'webhook']
}
