/** Every kind of secret that this platform hands out, by the prefix of its text. Redaction, formats and documents follow this table. Pure. */
export const KEY_KINDS = {
  user: 'pp',
  worker: 'ppw',
  pod: 'ppd',
  operator: 'ppo',
  joinToken: 'ppj',
  invitation: 'ppi',
} as const

const PREFIXES = Object.values(KEY_KINDS).join('|')

/** Finds all keys of a text that have at least `least` characters behind their prefix, which is the first group. */
export function keyPattern(least: number): RegExp {
  return new RegExp(`\\b(${PREFIXES})_[A-Za-z0-9_-]{${least},}`, 'g')
}
