import { findEndpointUser, findTeamUser } from '../db/accounts/accounts.ts'
import { openDatabase } from '../db/client.ts'
import { parseAllowList, type WebhookAllowList } from '../domain/webhook/url.ts'
import { type Env, readSettings } from '../env.ts'

/** The allow list without private hosts. */
const NOTHING = parseAllowList('')

/** Returns the allow list for the body of a job request. A body without the text `"webhook"` names no webhook and costs no D1 query. */
export async function webhookAllowOfBody(env: Env, endpointId: string, body: string): Promise<WebhookAllowList> {
  return body.includes('"webhook"') ? webhookAllowOf(env, endpointId) : NOTHING
}

/**
 * Returns the private hosts that the webhooks of an endpoint may call (HOOK-7): the list in `WEBHOOK_ALLOW`, which applies only to the
 * accounts in `WEBHOOK_ALLOW_USERS` where that is set (HOOK-21).
 */
export function webhookAllowOf(env: Env, endpointId: string): Promise<WebhookAllowList> {
  return allowOf(env, () => findEndpointUser(openDatabase(env.DB), endpointId))
}

/** Returns the private hosts that the webhooks of an account may call when they belong to no endpoint. */
export function webhookAllowOfTeam(env: Env, teamId: string): Promise<WebhookAllowList> {
  return allowOf(env, () => findTeamUser(openDatabase(env.DB), teamId))
}

async function allowOf(env: Env, findEmail: () => Promise<string | null>): Promise<WebhookAllowList> {
  const { webhookAllow, webhookAllowUsers } = readSettings(env)
  if (webhookAllowUsers === null) return webhookAllow
  const email = await findEmail()
  return email !== null && webhookAllowUsers.includes(email) ? webhookAllow : NOTHING
}
