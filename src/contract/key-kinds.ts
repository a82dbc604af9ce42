/** Every kind of secret that this platform issues, with its text prefix. Redaction, formats and documents use this table. Pure. */
export const KEY_KINDS = {
  user: 'pp',
  worker: 'ppw',
  pod: 'ppd',
  operator: 'ppo',
  joinToken: 'ppj',
  invitation: 'ppi',
} as const

const PREFIXES = Object.values(KEY_KINDS).join('|')

/** Returns a pattern that finds all keys in a text with at least `least` characters after their prefix; the first group is the prefix. */
export function keyPattern(least: number): RegExp {
  return new RegExp(`\\b(${PREFIXES})_[A-Za-z0-9_-]{${least},}`, 'g')
}
