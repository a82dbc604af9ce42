import { z } from 'zod'

const WHOLE_NUMBER = /^-?\d{1,15}$/
const NUMBER = /^-?\d{1,15}(\.\d+)?$/

/**
 * A whole number of a query. Values of a query are text; `z.coerce` would read an empty one as 0 and `0x10` as 16, so only digits are
 * read and anything else is told as the text that it is (ERR-4).
 */
export function queryInteger(min: number, max: number, byDefault: number) {
  return z.preprocess(readDigits, z.number().int().min(min).max(max)).default(byDefault)
}

/**
 * A whole number of a query of the job API, brought between its bounds; a fraction is cut, and what is no number means the default (API-11).
 */
export function clampedInteger(min: number, max: number, byDefault: number) {
  const clamp = (value: unknown) => {
    if (typeof value !== 'string') return value
    return NUMBER.test(value) ? Math.min(max, Math.max(min, Math.floor(Number(value)))) : byDefault
  }
  return z.preprocess(clamp, z.number().int().min(min).max(max)).default(byDefault)
}

/** The number that digits stand for; anything else as it is. */
export function readDigits(value: unknown): unknown {
  return typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value
}

/** A switch of a query: `true`, `false`, `1` or `0` in any case, as clients of different languages write them (PP-124). */
export function queryFlag() {
  return z
    .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'insensitive' })
    .default(false)
    .meta({ type: 'boolean', default: false })
}
