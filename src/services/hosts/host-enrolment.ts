import { decodeJwt, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { Problem } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { findHostKey, findJoinTokenState, type JoinTokenState, joinHost } from '../../db/hosts/enrolment.ts'
import { judgeJoin } from '../../domain/host/join.ts'
import { faultOfPublicKey } from '../../domain/host/public-key.ts'
import { auditStatement } from '../../effects/audit.ts'
import type { Env } from '../../env.ts'
import {
  ACCESS_TOKEN_AUDIENCE,
  ASSERTION_AUDIENCE,
  type EnrolRequest,
  type EnrolResponse,
  type TokenResponse,
} from '../../host-protocol/enrolment.ts'
import { PROTOCOL_VERSION } from '../../host-protocol/messages.ts'
import { Owned } from '../../objects/owned.ts'
import { hostStub } from '../../objects/stubs.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { fromBase64 } from '../../platform/encoding.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { newResourceId } from '../../platform/ids.ts'
import { masterSecrets } from '../../platform/seal.ts'
import { byHost } from '../../rpc/cause.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { inHostTurn } from './host-turns.ts'

const ACCESS_TOKEN_SECONDS = 3600
/** Lifetime of an assertion. Hosts with a wrong clock correct themselves by the Date header; the tolerance covers the rest. */
const ASSERTION_SECONDS = 60
const ASSERTION_TOLERANCE_SECONDS = 60
const MAX_JTI_CHARS = 128
/** HOST-38: maximum age of a cached enrolment, and so the time for which a withdrawn enrolment may still be accepted. */
const STANDING_TTL_MS = 5_000
const MAX_STANDINGS = 10_000

const standings = new ExpiringCache<{ epoch: number | null }>(STANDING_TTL_MS, MAX_STANDINGS)

/**
 * Enrols a host: uses up its join token and returns an id and a first access token. Until its agent has linked, the same key may repeat the
 * request with the same token and gets the same id (DUR-4). Throws 401 with the next step when the token is not valid for this key.
 */
export async function enrolHost(env: Env, request: EnrolRequest, source: string | null, nowMs: number): Promise<EnrolResponse> {
  if (request.inventory.protocolVersion !== PROTOCOL_VERSION) {
    throw new Problem('badRequest', {
      detail: `this plane speaks host protocol ${PROTOCOL_VERSION}, the agent ${request.inventory.protocolVersion}; upgrade the agent`,
    })
  }
  const fault = faultOf(request.publicKey.x)
  if (fault !== null) throw new Problem('validationFailed', { errors: [`publicKey.x ${fault}; make a new Ed25519 key pair`] })
  const tokenHash = await sha256Hex(request.joinToken)
  await verifySigned(request.proof, request.publicKey.x, tokenHash)
  const db = openDatabase(env.DB)
  const before = await lookUp('join', source, nowMs, () => findJoinTokenState(db, tokenHash))
  if (before && judgeJoin(before, request.publicKey.x, nowMs) === 'join') await join(env, tokenHash, before, request, nowMs)
  // Reads the token again also after a join: of two concurrent requests one was first, and the other may be its repeat.
  const token = await findJoinTokenState(db, tokenHash)
  if (!token?.host || judgeJoin(token, request.publicKey.x, nowMs) !== 'repeat') {
    throw new Problem('invalidToken', { detail: 'join token is unknown, used or expired; create a new one' })
  }
  const { id, epoch } = token.host
  return { hostId: id, epoch, dataCenterId: token.dataCenterId, ...(await issueAccessToken(env, id, epoch)) }
}

async function join(env: Env, tokenHash: string, token: JoinTokenState, request: EnrolRequest, nowMs: number): Promise<void> {
  const id = newResourceId()
  const host = { id, name: token.name ?? request.name, publicKeyX: request.publicKey.x, inventory: request.inventory }
  const after = { name: host.name, dataCenterId: token.dataCenterId, cloud: token.cloud }
  const change = { action: 'hosts.enrol', resourceKind: 'host', resourceId: id, before: null, after }
  await joinHost(openDatabase(env.DB), tokenHash, host, token, nowMs, auditStatement(env, nowMs, byHost(id), null, change))
}

/**
 * Exchanges an assertion signed with the host's own key for an access token that is valid for an hour. Throws 401 for an unknown or removed
 * host, a wrong assertion, or an identity that a later enrolment replaced, and 429 after too many.
 */
export async function renewHostToken(env: Env, assertion: string, source: string | null, nowMs: number): Promise<TokenResponse> {
  const hostId = readIssuer(assertion)
  const host = hostId === null ? null : await lookUp('host', source, nowMs, () => findHostKey(openDatabase(env.DB), hostId))
  if (hostId === null || !host)
    throw new Problem('invalidToken', { detail: 'host is unknown or removed; enrol again with a new join token' })
  const claims = await verifySigned(assertion, host.publicKeyX, hostId)
  if (claims.epoch !== host.epoch)
    throw new Problem('invalidToken', { detail: 'the host has since enrolled again; use its newest identity' })
  await spendAssertion(env, Owned.prove('host', hostId, null), claims.jti)
  return issueAccessToken(env, hostId, host.epoch)
}

/** Runs a lookup unless the address has sent many unknown hosts or join tokens recently (KEY-10). Throws 429. */
async function lookUp<Found>(
  what: string,
  source: string | null,
  nowMs: number,
  find: () => Promise<Found | null | undefined>,
): Promise<Found | null> {
  const findOrNull = async () => (await find()) ?? null
  const lookup = source === null ? { found: await findOrNull() } : await lookUpFor(`${what} ${source}`, nowMs, findOrNull)
  if ('found' in lookup) return lookup.found
  const detail = 'this address sent too many unknown host ids or join tokens'
  throw new Problem('rateLimited', { detail, headers: { 'Retry-After': String(lookup.waitSeconds) } })
}

async function spendAssertion(env: Env, host: Owned<'host'>, jti: string | undefined): Promise<void> {
  // A claim may have any type, whatever its declaration says.
  const isId = typeof jti === 'string' && jti !== '' && jti.length <= MAX_JTI_CHARS
  const outcome = isId ? await inHostTurn(host, () => hostStub(env, host).spendAssertion(jti)) : 'used'
  if (outcome === 'too many')
    throw new Problem('rateLimited', { detail: 'too many access tokens were issued for this host; retry in three minutes' })
  if (outcome === 'used') throw new Problem('invalidToken', { detail: 'the assertion was used before, or has no id (jti); sign a new one' })
}

/** Returns the host that an access token names; null when the token is missing, forged, expired, or of a withdrawn enrolment (HOST-38). */
export async function verifyHostToken(env: Env, authorization: string | null, nowMs: number): Promise<Owned<'host', null> | null> {
  const claims = await readAccessToken(env, authorization)
  if (claims?.sub === undefined) return null
  return (await currentEpoch(env, claims.sub, nowMs)) === claims.epoch ? Owned.prove('host', claims.sub, null) : null
}

async function currentEpoch(env: Env, hostId: string, nowMs: number): Promise<number | null> {
  const known = standings.get(hostId, nowMs)
  if (known) return known.epoch
  const epoch = (await findHostKey(openDatabase(env.DB), hostId))?.epoch ?? null
  standings.set(hostId, { epoch }, nowMs)
  return epoch
}

async function readAccessToken(env: Env, authorization: string | null): Promise<JWTPayload | null> {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
  if (!token) return null
  try {
    const { payload } = await jwtVerify(token, secretKey(env), {
      audience: ACCESS_TOKEN_AUDIENCE,
      algorithms: ['HS256'],
      requiredClaims: ['sub', 'exp'],
    })
    return payload
  } catch {
    return null
  }
}

async function issueAccessToken(env: Env, hostId: string, epoch: number): Promise<TokenResponse> {
  const accessToken = await new SignJWT({ epoch })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(hostId)
    .setAudience(ACCESS_TOKEN_AUDIENCE)
    .setIssuedAt()
    .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
    .sign(secretKey(env))
  return { accessToken, expiresInSeconds: ACCESS_TOKEN_SECONDS }
}

async function verifySigned(jwt: string, publicKeyX: string, subject: string): Promise<JWTPayload> {
  const fault = faultOf(publicKeyX)
  if (fault !== null) throw new Problem('invalidToken', { detail: `the host's key ${fault}; enrol the machine again with a new key` })
  try {
    const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: publicKeyX }, 'EdDSA')
    const { payload } = await jwtVerify(jwt, key, {
      audience: ASSERTION_AUDIENCE,
      subject,
      algorithms: ['EdDSA'],
      clockTolerance: ASSERTION_TOLERANCE_SECONDS,
      maxTokenAge: ASSERTION_SECONDS,
      requiredClaims: ['exp', 'iat'],
    })
    return payload
  } catch (error) {
    throw new Problem('invalidToken', {
      detail: `the host's signature is not valid: ${error instanceof Error ? error.message : 'unreadable'}`,
    })
  }
}

function faultOf(publicKeyX: string): string | null {
  try {
    return faultOfPublicKey(fromBase64(publicKeyX))
  } catch {
    return 'is not base64url'
  }
}

function readIssuer(jwt: string): string | null {
  try {
    const { iss } = decodeJwt(jwt)
    return typeof iss === 'string' ? iss : null
  } catch {
    return null
  }
}

function secretKey(env: Env): Uint8Array {
  return new TextEncoder().encode(`host-token\n${masterSecrets(env)[0]}`)
}
