import { z } from 'zod'

const WHOLE_NUMBER = /^-?\d{1,15}$/
const NUMBER = /^-?\d{1,15}(\.\d+)?$/

/**
 * An integer in a query. Query values are strings; `z.coerce` would read an empty one as 0 and `0x10` as 16, so only digits are parsed, and
 * any other value is reported as a string (ERR-4).
 */
export function queryInteger(min: number, max: number, byDefault: number) {
  return z.preprocess(readDigits, z.number().int().min(min).max(max)).default(byDefault)
}

/**
 * An integer in a query of the job API, clamped to its bounds. A fraction is cut off, and a value that is not a number gives the default
 * (API-11).
 */
export function clampedInteger(min: number, max: number, byDefault: number) {
  const clamp = (value: unknown) => {
    if (typeof value !== 'string') return value
    return NUMBER.test(value) ? Math.min(max, Math.max(min, Math.floor(Number(value)))) : byDefault
  }
  return z.preprocess(clamp, z.number().int().min(min).max(max)).default(byDefault)
}

/** Returns the number that a string of digits denotes; any other value unchanged. */
export function readDigits(value: unknown): unknown {
  return typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value
}

/** A boolean in a query: `true`, `false`, `1` or `0` in any case, as clients of different languages send them (REST-31). */
export function queryFlag() {
  return z
    .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'insensitive' })
    .default(false)
    .meta({ type: 'boolean', default: false })
}
