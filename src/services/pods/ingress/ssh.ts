import { Problem } from '../../../contract/problems.ts'
import { openDatabase } from '../../../db/client.ts'
import { findSshIngress, type PodIngress } from '../../../db/pods/pod-ingress.ts'
import { bareKey, parseSshUser } from '../../../domain/pod/ssh-login.ts'
import { auditStatement } from '../../../effects/audit.ts'
import { payerOf } from '../../../effects/payer.ts'
import type { Env } from '../../../env.ts'
import type { SshAdmit, SshLogin, SshOpen } from '../../../host-protocol/ssh-proxy.ts'
import { sameSecret } from '../../../platform/crypto.ts'
import { byCaller } from '../../../rpc/cause.ts'
import type { Counted } from '../../../rpc/counted.ts'
import { countRequest } from '../../accounts/rate-limit.ts'
import type { OperatorContext } from '../../context.ts'
import { openChannels, requireRunning } from './channels.ts'
import type { OpenConnection } from './exec.ts'

/** A key shorter than this is taken as "not set". */
const MIN_PROXY_KEY_CHARS = 32
const UNMATCHED = { user: '', key: '' }

/** Throws 401 unless the header carries the key of the SSH proxy (NET-20). */
export async function requireSshProxy(env: Env, authorization: string | null): Promise<void> {
  const expected = env.SSH_PROXY_KEY ?? ''
  const isSet = expected.length >= MIN_PROXY_KEY_CHARS
  const isSame = await sameSecret(authorization ?? '', `Bearer ${expected}`)
  if (!isSet || !isSame)
    throw new Problem('invalidToken', { detail: 'the key of the SSH proxy is missing or wrong, or SSH_PROXY_KEY is not set' })
}

/**
 * Admits a key of the pod's account (NET-21). A wrong user, suffix or key, and a pod without SSH, all get the same refusal after the same
 * work. With `connect`, the audit log records the key's fingerprint and the address (AUD-21).
 */
export async function admitSsh({ env, nowMs, requestId }: OperatorContext, admit: SshAdmit): Promise<void> {
  const pod = await findAdmitted(env, admit)
  if (!admit.connect) return
  const fingerprint = await fingerprintOf(admit.key)
  const counted = await countLogin(env, pod, nowMs)
  const cause = byCaller(counted, { actorKind: 'KEY', userId: null, credentialId: fingerprint, requestId })
  const after = { fingerprint, address: admit.address }
  const change = { action: 'pods.ssh', resourceKind: 'pod', resourceId: pod.id, before: null, after }
  await openDatabase(env.DB).batch([auditStatement(env, nowMs, cause, pod.teamId, change)])
}

/**
 * Counts a login in windows of its own, as wide as those of a user, over all accounts that one user pays for (SHR-4, SHR-45): each login
 * writes a row, and logins must not block the user's API requests. Throws 429.
 */
async function countLogin(env: Env, { id, teamId }: PodIngress, nowMs: number): Promise<Counted> {
  const payer = await payerOf(env, teamId, nowMs)
  const principal = { via: 'KEY' as const, credentialId: id, userId: `ssh ${payer}`, teamId: payer, scopes: new Set<string>() }
  const { verdict, counted } = await countRequest(env, principal, nowMs)
  if (counted) return counted
  const seconds = verdict?.allowed === false ? verdict.retryAfterSeconds : 1
  const detail = `too many SSH logins to pods of this account; retry in ${seconds} seconds`
  throw new Problem('rateLimited', { detail, headers: { 'Retry-After': String(seconds) } })
}

/** Opens a command in the pod, or a connection to one of its ports. Throws 403 like `admitSsh`, and 409 while the pod does not run. */
export async function openSsh(ctx: OperatorContext, { target, ...login }: SshOpen, signal: AbortSignal): Promise<OpenConnection> {
  const { env } = ctx
  const pod = await findAdmitted(env, login)
  requireRunning(pod)
  const socket = await openChannels(ctx, pod, { ...target, flow: true }, signal)
  const isRunning = async () => {
    const now = await find(env, login)
    return now !== null && now.status === 'RUNNING' && now.generation === pod.generation
  }
  return { socket, isRunning }
}

async function findAdmitted(env: Env, login: SshLogin): Promise<PodIngress> {
  const pod = await find(env, login)
  if (pod === null) throw new Problem('accessDenied', { detail: 'no pod with SSH has this user name and accepts this key' })
  return pod
}

async function find(env: Env, { user, key }: SshLogin): Promise<PodIngress | null> {
  const said = parseSshUser(user)
  const found = await findSshIngress(openDatabase(env.DB), said?.podId ?? '')
  // The comparisons run for an unknown pod too, so that its refusal takes the same time.
  const hasSuffix = await sameSecret(said?.suffix ?? UNMATCHED.user, found?.ingress.sshSuffix ?? '........')
  const hasKey = await hasSame(bareKey(key) ?? UNMATCHED.key, found?.keys.flatMap((line) => bareKey(line) ?? []) ?? [])
  if (found === null || !hasSuffix || !hasKey) return null
  const { ingress: pod } = found
  return pod.startSsh && !pod.isBlocked && pod.status !== 'TERMINATED' ? pod : null
}

/** Whether one of the keys is equal; compares all of them, so that the time does not depend on the position. */
async function hasSame(key: string, keys: readonly string[]): Promise<boolean> {
  // Bounded: hashes of keys, without calls.
  const same = await Promise.all(['.', ...keys].map((one) => sameSecret(key, one)))
  return same.includes(true)
}

/** Returns the fingerprint in the format of `ssh-keygen -l`. */
async function fingerprintOf(key: string): Promise<string> {
  const content = Uint8Array.from(atob(bareKey(key)?.split(' ')[1] ?? ''), (char) => char.charCodeAt(0))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content))
  return `SHA256:${btoa(String.fromCharCode(...digest)).replace(/=+$/, '')}`
}
