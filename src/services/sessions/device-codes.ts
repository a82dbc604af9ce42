import { DEVICE_LOGIN_TTL_MS, issuedAt, randomLettersOf, userCodeOf } from '../../domain/session/device-login.ts'
import type { Env } from '../../env.ts'
import { equalInConstantTime, hashKeySecret } from '../../platform/crypto.ts'
import { vaultOf } from '../../platform/seal.ts'

const DEVICE_CODE = ['device code'] as const
const USER_CODE = ['user code'] as const
/** Random bytes per attempt, far more than a code needs. */
const RANDOM_BYTES = 64

/** A waiting device, as its own sealed code contains it: the plane stores nothing of it (DER-9). */
export interface WaitingLogin {
  name: string
  userCode: string
  expiresAt: number
}

/** Returns both codes of a device that starts a login at `nowMs`. */
export function newCodes(env: Env, name: string, nowMs: number): { deviceCode: string; userCode: string } {
  const userCode = userCodeOf(randomLetters(), nowMs, digestIn(env))
  const login: WaitingLogin = { name, userCode, expiresAt: nowMs + DEVICE_LOGIN_TTL_MS }
  return { deviceCode: vaultOf(env).seal(DEVICE_CODE, JSON.stringify(login)), userCode }
}

/** Returns the contents of a device code; null: this plane did not make it, or it has expired. */
export function openDeviceCode(env: Env, code: string, nowMs: number): WaitingLogin | null {
  const text = vaultOf(env).open(DEVICE_CODE, code)
  const login = text === null ? null : (JSON.parse(text) as WaitingLogin)
  return login === null || login.expiresAt <= nowMs ? null : login
}

/** Returns when the plane issued a user code, to the minute; null: never, or too long ago (DER-10). */
export function timeOfUserCode(env: Env, userCode: string, nowMs: number): number | null {
  return issuedAt(userCode, nowMs, digestIn(env))
}

/** Returns a proof that the device of a code has this name, so that only the plane can make a link with a name (DER-11). */
export function proveName(env: Env, userCode: string, name: string): string {
  return vaultOf(env).digest(['device name', userCode], name)
}

/** Whether the proof belongs to this code and name. */
export function isNameProven(env: Env, userCode: string, name: string, proof: string): boolean {
  return equalInConstantTime(proof, proveName(env, userCode, name))
}

/** Returns the hash of a typed user code, which is stored in its place. */
export function userCodeId(env: Env, userCode: string): Promise<string> {
  return hashKeySecret(env.KEY_PEPPER, `user code ${userCode}`)
}

function digestIn(env: Env): (text: string) => string {
  return (text) => vaultOf(env).digest(USER_CODE, text)
}

function randomLetters(): string {
  for (;;) {
    const letters = randomLettersOf(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))
    if (letters !== null) return letters
  }
}
