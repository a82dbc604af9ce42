import type { z } from 'zod'
import { patternText } from './forms.ts'

type Issue = z.core.$ZodIssue

/** Most failed checks in one answer, and longest text of one, so that an answer is not larger than its request (ERR-23). */
const MAX_ERRORS = 50
const MAX_ERROR_CHARS = 500
/** Most names and options that one failed check lists. */
const MAX_NAMES = 20

/**
 * Describes each failed check as `<location>: <problem>` (ERR-4), up to `MAX_ERRORS` of them (ERR-23). `input` is the value that was
 * checked.
 */
export function describeIssues(issues: readonly Issue[], input: unknown): string[] {
  const expanded = issues.flatMap(withinForm)
  const shown = expanded.slice(0, MAX_ERRORS).map((issue) => shorten(describeIssue(issue, input)))
  const more = expanded.length - shown.length
  return more > 0 ? [...shown, `$: and ${more} more`] : shown
}

/**
 * If exactly one option of a union fits the value except for its members, returns the failures of that option: a mention of `null` beside
 * an object would not help.
 */
function withinForm(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const fitting = issue.errors.filter((inner) => inner.length > 0 && inner.every(({ path }) => path.length > 0))
  const [only] = fitting
  if (fitting.length !== 1 || only === undefined) return [issue]
  return only.flatMap((inner) => withinForm({ ...inner, path: [...issue.path, ...inner.path] }))
}

function shorten(text: string): string {
  return text.length > MAX_ERROR_CHARS ? `${text.slice(0, MAX_ERROR_CHARS)}… (${text.length} characters)` : text
}

function describeIssue(issue: Issue, input: unknown): string {
  const found = valueAt(input, issue.path)
  // A missing member is reported at its parent.
  if (found === undefined && issue.path.length > 0 && isTypeIssue(issue)) {
    return `${locationOf(issue.path.slice(0, -1))}: missing property '${String(issue.path.at(-1))}'`
  }
  // A name that is not allowed is reported at the object that contains it.
  const path = issue.code === 'invalid_key' ? issue.path.slice(0, -1) : issue.path
  return `${locationOf(path)}: ${describe(issue, found)}`
}

function describe(issue: Issue, found: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `got ${typeName(found)}, want ${wantedType(issue.expected)}`
    case 'unrecognized_keys':
      return `additional properties ${quoted(issue.keys)} not allowed`
    case 'invalid_value':
      return `value must be one of ${quoted(issue.values.map(String))}`
    case 'invalid_format':
      return issue.format === 'datetime' ? 'is not a date-time' : mismatch(issue)
    case 'invalid_key':
      return `property name '${String(issue.path.at(-1))}' ${mismatch(issue.issues[0])}`
    case 'too_small':
      return `${boundName('min', issue.origin)}: got ${sizeOf(found, issue.origin)}, want ${String(issue.minimum)}`
    case 'too_big':
      return `${boundName('max', issue.origin)}: got ${sizeOf(found, issue.origin)}, want ${String(issue.maximum)}`
    case 'invalid_union':
      return describeUnion(issue, found)
    default:
      return issue.message
  }
}

/** Describes a pattern that did not match, with the wanted form (ERR-22). */
function mismatch(issue: Issue | undefined): string {
  const wanted = issue?.code === 'invalid_format' && 'pattern' in issue ? patternText(String(issue.pattern)) : undefined
  return wanted === undefined ? 'does not match pattern' : `does not match pattern: want ${wanted}`
}

/**
 * Describes a failed union: a discriminated one by its options, a plain one by the first option that lists values, which is the most
 * specific.
 */
function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>, found: unknown): string {
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : []
  if (options.length > 0) return `value must be one of ${quoted(options)}`
  const listed = issue.errors.flat().find((inner) => inner.code === 'invalid_value')
  return listed ? describe(listed, found) : 'matches none of the allowed forms'
}

function isTypeIssue(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union'
}

function locationOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}.${String(key)}`), '$')
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    // A list in a query is one string with commas (ERR-5).
    if (typeof value === 'string' && typeof key === 'number') return value.split(',')[key]
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    return (value as Record<PropertyKey, unknown>)[key]
  }, input)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function wantedType(expected: string): string {
  if (expected === 'record') return 'object'
  return expected === 'int' ? 'integer' : expected
}

/** JSON Schema's name of the bound: minimum for a number, minLength for a string, minItems for an array. */
function boundName(bound: 'min' | 'max', origin: string): string {
  if (origin === 'string') return `${bound}Length`
  return origin === 'array' ? `${bound}Items` : `${bound}imum`
}

function sizeOf(value: unknown, origin: string): string {
  if (Array.isArray(value)) return String(value.length)
  if (typeof value === 'string' && origin === 'array') return String(value.split(',').length)
  // A number in a query or a header arrives as a string.
  return typeof value === 'string' && origin === 'string' ? String(value.length) : String(value)
}

function quoted(values: readonly string[]): string {
  const shown = values.slice(0, MAX_NAMES).map((value) => `'${value}'`)
  return values.length > shown.length ? `${shown.join(', ')} and ${values.length - shown.length} more` : shown.join(', ')
}
