import { findEndpointUser, findTeamUser } from '../db/accounts/accounts.ts'
import { openDatabase } from '../db/client.ts'
import { parseAllowList, type WebhookAllowList } from '../domain/webhook/url.ts'
import { type Env, readSettings } from '../env.ts'

/** Public addresses only. */
const NOTHING = parseAllowList('')

/** The same for a body that asks for a job: one that does not even hold the word names no webhook, and asks D1 nothing. */
export async function webhookAllowOfBody(env: Env, endpointId: string, body: string): Promise<WebhookAllowList> {
  return body.includes('"webhook"') ? webhookAllowOf(env, endpointId) : NOTHING
}

/**
 * Private hosts that the webhooks of an endpoint may call (HOOK-7): what `WEBHOOK_ALLOW` lists is for the accounts that `WEBHOOK_ALLOW_USERS`
 * names, where it names any (PP-224).
 */
export function webhookAllowOf(env: Env, endpointId: string): Promise<WebhookAllowList> {
  return allowOf(env, () => findEndpointUser(openDatabase(env.DB), endpointId))
}

/** The same for webhooks of an account that are about no endpoint. */
export function webhookAllowOfTeam(env: Env, teamId: string): Promise<WebhookAllowList> {
  return allowOf(env, () => findTeamUser(openDatabase(env.DB), teamId))
}

async function allowOf(env: Env, findEmail: () => Promise<string | null>): Promise<WebhookAllowList> {
  const { webhookAllow, webhookAllowUsers } = readSettings(env)
  if (webhookAllowUsers === null) return webhookAllow
  const email = await findEmail()
  return email !== null && webhookAllowUsers.includes(email) ? webhookAllow : NOTHING
}
