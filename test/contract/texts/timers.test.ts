import { globSync, readFileSync } from 'node:fs'
import { PRICES } from '../../../bench/bill/prices.ts'
import { describe, expect, it } from '../../support/unit.ts'

const DOCUMENT = readFileSync('docs/timers.md', 'utf8')
const [, inMemory = '', alarms = ''] = DOCUMENT.split(/^## .*$/m)

/** The cells of a table's rows, without its head. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Object '))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )

const sources = globSync('durable-objects/**/*.ts')
  .toSorted()
  .map((path) => ({ file: path.replace('durable-objects/', ''), code: withoutComments(readFileSync(path, 'utf8')) }))

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}

/** Each match of a pattern in the objects' code, as `FILE GROUP`. */
function found(pattern: RegExp, except: readonly string[] = []): string[] {
  return sources
    .filter(({ file }) => !except.includes(file))
    .flatMap(({ file, code }) => [...code.matchAll(pattern)].map(([, group]) => [file, group].filter(Boolean).join(' ')))
}

const code = (cell: string | undefined) => /`([^`]+)`/.exec(cell ?? '')?.[1] ?? ''

describe('docs/timers.md', () => {
  it('lists every timer in memory, as often as its file sets one', () => {
    expect(
      rowsOf(inMemory)
        .map(([, file]) => code(file))
        .toSorted(),
    ).toEqual(found(/\btimers\s*\.(?:after|every)\(/g).toSorted())
  })

  it('is complete: an object has no timer beside those of its clock', () => {
    expect(found(/\b(setTimeout|setInterval|scheduler\.wait|AbortSignal\.timeout)\b/g)).toEqual([
      'clock/sleeper.ts scheduler.wait',
      'plane-object.ts scheduler.wait',
    ])
  })

  it('lists every alarm, by its name where several share it', () => {
    const listed = rowsOf(alarms).map(([, file, timer]) => [code(file), /^`(\w+_TIMER)`/.exec(timer ?? '')?.[1]].filter(Boolean).join(' '))
    const named = found(/\bconst (\w+_TIMER) =/g)
    // These classes set the alarm for the named timers, and the endpoint's for its deadlines.
    const direct = [...new Set(found(/\bstorage\.setAlarm\(/g, ['alarms.ts']))]
    const repeats = ['host/timers.ts']
    expect(listed.toSorted()).toEqual([...named, ...direct, ...repeats].toSorted())
  })

  it('states what an object that is awake costs', () => {
    const perHour = PRICES.objectGb * 3_600 * PRICES.gbSecond
    expect(DOCUMENT).toContain(`${(perHour * 100).toPrecision(3)} cents an hour`)
    expect(DOCUMENT).toContain(`(${(perHour * 24 * 30).toPrecision(3)} USD for 30 days)`)
  })
})
