import type { ApproveDeviceRequest, DeviceToken, WaitingDevice } from '../../contract/console/device.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { findRole } from '../../db/accounts/own-keys.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/sessions/device-logins.ts'
import { scopesOfRole } from '../../domain/access.ts'
import {
  DEVICE_LOGIN_TTL_MS,
  type DeviceRefusal,
  judgePoll,
  POLL_INTERVAL_SECONDS,
  readUserCode,
  showUserCode,
  userCodeOf,
} from '../../domain/session/device-login.ts'
import type { Env } from '../../env.ts'
import { countedBy } from '../../objects/counted.ts'
import { hashKeySecret } from '../../platform/crypto.ts'
import { newSessionSecret } from '../../platform/ids.ts'
import { createOwnKey, requireMayGrant } from '../accounts/own-keys.ts'
import { noteChange } from '../audit.ts'
import type { OperatorContext, VerbContext } from '../context.ts'
import { lookUpFor } from '../credentials/lookups.ts'

/** Far more random bytes than a code needs. */
const USER_CODE_BYTES = 64
const MAX_NAME_CHARS = 100
/** Keys of devices are named after it, whether or not the device says so itself. */
const PROGRAM = 'podplane'
/** A code of another form was never given out. */
const DEVICE_CODE_FORM = /^[\w-]{43}$/

/** What a device learns that begins. */
export interface Started {
  deviceCode: string
  userCode: string
  expiresInSeconds: number
  intervalSeconds: number
}

type Where = Pick<OperatorContext, 'env' | 'nowMs' | 'requestId'>

/** Begins to let a device in (CS-18). Throws 503 while too many wait. */
export async function startDeviceLogin({ env, nowMs }: Where, name: string): Promise<Started> {
  const deviceCode = newSessionSecret()
  const userCode = newUserCode()
  const row = {
    id: await deviceId(env, deviceCode),
    userCode: await userCodeId(env, userCode),
    name,
    createdAt: nowMs,
    expiresAt: nowMs + DEVICE_LOGIN_TTL_MS,
    intervalSeconds: POLL_INTERVAL_SECONDS,
    polledAt: null,
    status: 'PENDING' as const,
    userId: null,
    teamId: null,
    credentialId: null,
    permission: null,
    scopes: null,
  }
  if (!(await table.insertDeviceLogin(openDatabase(env.DB), row))) {
    throw new Problem('unavailable', { detail: 'too many devices wait to be let in: try again later', headers: { 'Retry-After': '60' } })
  }
  const expiresInSeconds = DEVICE_LOGIN_TTL_MS / 1000
  return { deviceCode, userCode: showUserCode(userCode), expiresInSeconds, intervalSeconds: POLL_INTERVAL_SECONDS }
}

/** The device that shows a code, so that whoever lets it in recognises it (CS-19). Throws 404 and 429. */
export async function findDevice(ctx: VerbContext, userCode: string): Promise<WaitingDevice> {
  const { env, nowMs, principal } = ctx
  const id = await userCodeId(env, requireUserCode(userCode))
  const find = async () => (await table.findWaitingDevice(openDatabase(env.DB), id, nowMs)) ?? null
  const lookup = await lookUpFor(`device codes of ${principal.credentialId}`, nowMs, find)
  if ('waitSeconds' in lookup) throw tooMany(lookup.waitSeconds)
  if (lookup.found === null) throw notWaiting()
  const { name, createdAt, expiresAt } = lookup.found
  return {
    userCode: showUserCode(requireUserCode(userCode)),
    name,
    createdAt: formatTime(createdAt),
    expiresAt: formatTime(expiresAt),
  }
}

/**
 * Lets a device in: it gets a key of the account acted for, with at most what whoever lets it in may do (CS-19, TEAM-21). Throws 400, 403, 404
 * and 429.
 */
export async function approveDevice(ctx: VerbContext, { userCode, permission, scopes }: ApproveDeviceRequest): Promise<WaitingDevice> {
  const { nowMs, principal } = ctx
  await requireMayGrant(ctx, { permission, scopes })
  const device = await findDevice(ctx, userCode)
  const { userId, teamId, credentialId } = principal
  const grant = { userId, teamId, credentialId, permission: permission ?? ('ALL' as const), scopes: scopes ?? [] }
  await decide(ctx, device, grant, nowMs)
  return device
}

/** Keeps a device out (CS-19). Throws 404 and 429. */
export async function denyDevice(ctx: VerbContext, userCode: string): Promise<void> {
  await decide(ctx, await findDevice(ctx, userCode), null, ctx.nowMs)
}

/** What a device gets that asks: the key, once (CS-20, CS-21), or why not yet or not at all. */
export async function pollDevice(
  where: Where,
  deviceCode: string,
  source: string | null,
): Promise<DeviceToken | { refusal: DeviceRefusal; intervalSeconds: number }> {
  const { env, nowMs } = where
  const gone = { refusal: 'expired_token' as const, intervalSeconds: POLL_INTERVAL_SECONDS }
  if (!DEVICE_CODE_FORM.test(deviceCode)) return gone
  const db = openDatabase(env.DB)
  const id = await deviceId(env, deviceCode)
  const find = async () => (await table.findDeviceLogin(db, id)) ?? null
  const lookup = source === null ? { found: await find() } : await lookUpFor(`device ${source}`, nowMs, find)
  if ('waitSeconds' in lookup) throw tooMany(lookup.waitSeconds)
  if (lookup.found === null) return gone
  const judged = judgePoll(lookup.found, nowMs)
  if (judged !== null) {
    await table.notePoll(db, id, nowMs, judged.intervalSeconds)
    return judged
  }
  const taken = await table.takeApprovedDevice(db, id, nowMs)
  return taken === undefined ? gone : handOut(where, taken)
}

// The key is made at this moment, so none was ever stored; whoever has left the account meanwhile gives none.
async function handOut({ env, nowMs, requestId }: Where, row: table.DeviceLoginRow): Promise<DeviceToken> {
  const { userId, teamId, credentialId, permission } = row
  if (userId === null || teamId === null || credentialId === null || permission === null) throw new Error('nobody has let the device in')
  const role = await findRole(openDatabase(env.DB), teamId, userId)
  if (role === null) throw new Problem('accessDenied', { detail: 'whoever has let the device in has left the account' })
  const principal = { via: 'SESSION' as const, credentialId, userId, teamId, scopes: scopesOfRole(role) }
  const name = (row.name.startsWith(PROGRAM) ? row.name : `${PROGRAM} on ${row.name}`).slice(0, MAX_NAME_CHARS)
  const body = { name, permission, ...(permission === 'RESTRICTED' && { scopes: row.scopes ?? [] }) }
  const { id, key } = await createOwnKey({ env, principal, nowMs, requestId, counted: countedBy('approval') }, body, undefined)
  if (key === null) throw new Error('a new key has no text')
  return { access_token: key, token_type: 'Bearer', key_id: id, account_id: teamId }
}

async function decide(ctx: VerbContext, device: WaitingDevice, grant: table.DeviceGrant | null, nowMs: number): Promise<void> {
  const id = await userCodeId(ctx.env, requireUserCode(device.userCode))
  const isLetIn = grant !== null
  const after = isLetIn ? { name: device.name, permission: grant.permission, scopes: grant.scopes } : { name: device.name }
  const action = isLetIn ? 'devices.approve' : 'devices.deny'
  const note = noteChange(ctx, { action, resourceKind: 'device', resourceId: id.slice(0, 32), before: null, after })
  if (!(await table.decideDevice(openDatabase(ctx.env.DB), id, grant, nowMs, note))) throw notWaiting()
}

function requireUserCode(text: string): string {
  const code = readUserCode(text)
  if (code === null) throw notWaiting()
  return code
}

function notWaiting(): Problem {
  return new Problem('notFound', { detail: 'no device waits with this code: it may have expired, so begin again on the device' })
}

function tooMany(waitSeconds: number): Problem {
  const detail = `too many unknown codes; try again in ${waitSeconds} seconds`
  return new Problem('rateLimited', { detail, headers: { 'Retry-After': String(waitSeconds) } })
}

function newUserCode(): string {
  for (;;) {
    const code = userCodeOf(crypto.getRandomValues(new Uint8Array(USER_CODE_BYTES)))
    if (code !== null) return code
  }
}

function deviceId(env: Env, deviceCode: string): Promise<string> {
  return hashKeySecret(env.KEY_PEPPER, `device ${deviceCode}`)
}

function userCodeId(env: Env, userCode: string): Promise<string> {
  return hashKeySecret(env.KEY_PEPPER, `user code ${userCode}`)
}
