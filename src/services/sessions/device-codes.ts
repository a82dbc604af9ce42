import { DEVICE_LOGIN_TTL_MS, givenOutAt, randomLettersOf, userCodeOf } from '../../domain/session/device-login.ts'
import type { Env } from '../../env.ts'
import { equalInConstantTime, hashKeySecret } from '../../platform/crypto.ts'
import { vaultOf } from '../../platform/seal.ts'

const DEVICE_CODE = ['device code'] as const
const USER_CODE = ['user code'] as const
/** Far more random bytes than a code needs. */
const RANDOM_BYTES = 64

/** A device as its own code holds it, sealed: the plane stores nothing of one that waits (DER-9). */
export interface WaitingLogin {
  name: string
  userCode: string
  expiresAt: number
}

/** Both codes of a device that begins now. */
export function newCodes(env: Env, name: string, nowMs: number): { deviceCode: string; userCode: string } {
  const userCode = userCodeOf(randomLetters(), nowMs, digestIn(env))
  const login: WaitingLogin = { name, userCode, expiresAt: nowMs + DEVICE_LOGIN_TTL_MS }
  return { deviceCode: vaultOf(env).seal(DEVICE_CODE, JSON.stringify(login)), userCode }
}

/** What a device's own code holds; null: the plane has not made it, or its time is over. */
export function openDeviceCode(env: Env, code: string, nowMs: number): WaitingLogin | null {
  const text = vaultOf(env).open(DEVICE_CODE, code)
  const login = text === null ? null : (JSON.parse(text) as WaitingLogin)
  return login === null || login.expiresAt <= nowMs ? null : login
}

/** When the plane gave out a code that somebody types, to the minute; null: never, or too long ago (DER-10). */
export function timeOfUserCode(env: Env, userCode: string, nowMs: number): number | null {
  return givenOutAt(userCode, nowMs, digestIn(env))
}

/** Shows that the device of a code calls itself so: nobody else can write a link that says another name (DER-11). */
export function proveName(env: Env, userCode: string, name: string): string {
  return vaultOf(env).digest(['device name', userCode], name)
}

/** Whether it does. */
export function isNameProven(env: Env, userCode: string, name: string, proof: string): boolean {
  return equalInConstantTime(proof, proveName(env, userCode, name))
}

/** What is stored of a code that somebody has typed. */
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
