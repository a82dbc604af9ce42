import type { ApproveDeviceRequest, DeviceToken, WaitingDevice } from '../../contract/console/device.ts'
import { KEY_DEFAULTS } from '../../contract/defaults.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/sessions/device-logins.ts'
import {
  DEVICE_LOGIN_TTL_MS,
  type DeviceRefusal,
  judgeDecision,
  type Pace,
  POLL_INTERVAL_SECONDS,
  paceOf,
  readUserCode,
  showUserCode,
} from '../../domain/session/device-login.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { countedBy } from '../../rpc/counted.ts'
import { createOwnKey, parentOfCaller, requireMayGrant } from '../accounts/own-keys.ts'
import { noteChange } from '../audit.ts'
import type { OperatorContext, VerbContext } from '../context.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { actAgain } from './console-callers.ts'
import * as codes from './device-codes.ts'

const MAX_NAME_CHARS = 100
/** Keys of devices are named after this program, whether or not the device's own name contains it. */
const PROGRAM = 'podplane'
const MAX_PACES = 10_000
/** Additional lifetime of an approval: a code is known to the minute only, and the device may have started at the end of it. */
const MINUTE_MS = 60_000

/** Poll intervals of devices, by hashes of their codes (DER-12). In memory only. */
const paces = new ExpiringCache<Pace>(DEVICE_LOGIN_TTL_MS, MAX_PACES)

/** The answer to a device that starts a login. */
export interface Started {
  deviceCode: string
  userCode: string
  /** Proves the device's name to the page that approves it (DER-11). */
  nameProof: string
  expiresInSeconds: number
  intervalSeconds: number
}

/** A name from a link, with the plane's proof that the device has given it. */
export interface SaidName {
  name?: string | undefined
  proof?: string | undefined
}

type Where = Pick<OperatorContext, 'env' | 'nowMs' | 'requestId'>
type Decided = Pick<table.DeviceLoginRow, 'status' | 'userId' | 'teamId' | 'credentialId' | 'permission' | 'scopes'>
type Granted = { permission: NonNullable<Decided['permission']>; scopes: string[]; sessionId: string }

/** Starts the login of a device (SESSION-18). The plane stores nothing of it (DER-9). */
export function startDeviceLogin({ env, nowMs }: Where, name: string): Started {
  const { deviceCode, userCode } = codes.newCodes(env, name, nowMs)
  const nameProof = codes.proveName(env, userCode, name)
  const expiresInSeconds = DEVICE_LOGIN_TTL_MS / 1000
  return { deviceCode, userCode: showUserCode(userCode), nameProof, expiresInSeconds, intervalSeconds: POLL_INTERVAL_SECONDS }
}

/**
 * Returns the waiting device of a user code (SESSION-19). Its name is included only with the proof from its own link: the plane does not
 * know it from the code (DER-11). Throws 404 and 429.
 */
export async function findDevice({ env, nowMs, principal }: VerbContext, typed: string, said: SaidName = {}): Promise<WaitingDevice> {
  const userCode = requireUserCode(typed)
  const lookup = await lookUpFor(`device codes of ${principal.userId}`, nowMs, async () => {
    const issuedAt = codes.timeOfUserCode(env, userCode, nowMs)
    if (issuedAt === null) return null
    return (await table.findDecision(openDatabase(env.DB), await codes.userCodeId(env, userCode))) ? null : { issuedAt }
  })
  if ('waitSeconds' in lookup) throw tooMany(lookup.waitSeconds)
  if (lookup.found === null) throw notWaiting()
  const { issuedAt } = lookup.found
  const { name, proof } = said
  const isNamed = name !== undefined && proof !== undefined && codes.isNameProven(env, userCode, name, proof)
  return {
    userCode: showUserCode(userCode),
    name: isNamed ? name : null,
    createdAt: formatTime(issuedAt),
    expiresAt: formatTime(issuedAt + DEVICE_LOGIN_TTL_MS),
  }
}

/**
 * Approves a device: it gets a key of the present account with at most the rights of the approving user (SESSION-19, TEAM-21), while the
 * approving session is valid (DER-7). Throws 400, 403, 404 and 429.
 */
export async function approveDevice(
  ctx: VerbContext,
  sessionId: string,
  { userCode, permission, scopes }: ApproveDeviceRequest,
): Promise<WaitingDevice> {
  await requireMayGrant(ctx, { permission, scopes })
  if ((await parentOfCaller(ctx)) !== null) {
    throw new Problem('accessDenied', {
      detail: 'this session uses a device key, which cannot approve other devices: sign in as a user',
    })
  }
  return decide(ctx, userCode, { permission: permission ?? KEY_DEFAULTS.permission, scopes: scopes ?? [], sessionId })
}

/** Denies a device (SESSION-19). Throws 404 and 429. */
export async function denyDevice(ctx: VerbContext, userCode: string): Promise<void> {
  await decide(ctx, userCode, null)
}

/**
 * Returns the answer to a polling device: the key, once (SESSION-20, SESSION-21), or why it is pending or refused. A poll of a waiting
 * device costs one read (DER-9).
 */
export async function pollDevice(
  where: Where,
  deviceCode: string,
): Promise<DeviceToken | { refusal: DeviceRefusal; intervalSeconds: number }> {
  const { env, nowMs } = where
  const login = codes.openDeviceCode(env, deviceCode, nowMs)
  if (login === null) return { refusal: 'expired_token', intervalSeconds: POLL_INTERVAL_SECONDS }
  const id = await codes.userCodeId(env, login.userCode)
  const { isTooSoon, ...pace } = paceOf(paces.get(id, nowMs), nowMs)
  paces.set(id, pace, nowMs)
  const { intervalSeconds } = pace
  if (isTooSoon) return { refusal: 'slow_down', intervalSeconds }
  const db = openDatabase(env.DB)
  const refusal = judgeDecision((await table.findDecision(db, id))?.status ?? null)
  if (refusal !== null) return { refusal, intervalSeconds }
  const taken = await table.takeApproved(db, id, nowMs)
  if (taken === undefined) return { refusal: 'expired_token', intervalSeconds }
  return (await handOut(where, login.name, taken)) ?? { refusal: 'access_denied', intervalSeconds }
}

/**
 * Creates the key at this moment, so that none is stored before; null when the approving session may not act for the account at present: it
 * or its parent has ended, or its user has left or is suspended (DER-7).
 */
async function handOut({ env, nowMs, requestId }: Where, deviceName: string, row: table.DeviceLoginRow): Promise<DeviceToken | null> {
  const { teamId, credentialId, permission } = row
  if (teamId === null || credentialId === null || permission === null) throw new Error('no user has approved the device')
  const acting = await actAgain(env, credentialId, teamId, nowMs)
  if (acting === null) return null
  const name = (deviceName.startsWith(PROGRAM) ? deviceName : `${PROGRAM} on ${deviceName}`).slice(0, MAX_NAME_CHARS)
  const body = { name, permission, ...(permission === 'RESTRICTED' && { scopes: row.scopes ?? [] }) }
  const by = { env, principal: acting.principal, nowMs, requestId, counted: countedBy('approval') }
  const { id, key } = await createOwnKey(by, body, undefined, acting.parent)
  if (key === null) throw new Error('a new key has no text')
  return { access_token: key, token_type: 'Bearer', key_id: id, account_id: teamId }
}

async function decide(ctx: VerbContext, typed: string, grant: Granted | null): Promise<WaitingDevice> {
  const { env, nowMs } = ctx
  const device = await findDevice(ctx, typed)
  const id = await codes.userCodeId(env, requireUserCode(typed))
  const after = grant === null ? {} : { permission: grant.permission, scopes: grant.scopes }
  const action = grant === null ? 'devices.deny' : 'devices.approve'
  const note = noteChange(ctx, { action, resourceKind: 'device', resourceId: id.slice(0, 32), before: null, after })
  const row = { id, createdAt: nowMs, expiresAt: Date.parse(device.expiresAt) + MINUTE_MS, ...decided(ctx, grant) }
  if (!(await table.insertDecision(openDatabase(env.DB), row, note))) throw notWaiting()
  return device
}

function decided({ principal: { userId, teamId } }: VerbContext, grant: Granted | null): Decided {
  if (grant === null) return { status: 'DENIED', userId: null, teamId: null, credentialId: null, permission: null, scopes: null }
  const { permission, scopes, sessionId } = grant
  return { status: 'APPROVED', userId, teamId, credentialId: sessionId, permission, scopes }
}

function requireUserCode(text: string): string {
  const code = readUserCode(text)
  if (code === null) throw notWaiting()
  return code
}

function notWaiting(): Problem {
  return new Problem('notFound', { detail: 'no device is waiting with this code; it may have expired: start again on the device' })
}

function tooMany(waitSeconds: number): Problem {
  const detail = `too many unknown codes; retry in ${waitSeconds} seconds`
  return new Problem('rateLimited', { detail, headers: { 'Retry-After': String(waitSeconds) } })
}
