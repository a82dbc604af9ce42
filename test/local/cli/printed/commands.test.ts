import { readFileSync } from 'node:fs'
import { type Command, CommanderError } from 'commander'
import { normalizeArguments } from '../../../../src/cli/core/arguments.ts'
import { buildProgram } from '../../../../src/cli/program.ts'
import { buildAgentProgram } from '../../../../src/host-agent/cli.ts'
import { startProgram } from '../../../../src/local/settings.ts'
import {
  commandsOfDocument,
  commandsOfFile,
  commandsOfSource,
  filesOf,
  type PrintedCommand,
} from '../../../support/texts/printed-commands.ts'
import { describe, expect, it } from '../../../support/unit.ts'

// Each command that the product prints for people is parsed by the program that it names.

/** First words after the name of the product in a sentence about it. */
const ABOUT_THE_PRODUCT = new Set(['on', 'is', 'did', 'for', 'has', 'control', 'operator', 'console'])

/** The text of `docs/cli.md`, which is read as a document, its frame of an example, and the input of a hash. */
const NOT_PRINTED = new Set(['src/cli/document.ts', 'src/cli/session/act.ts', 'src/platform/seal.ts'])

const PROGRAMS = { podplane: () => buildProgram(), 'podplane-agent': buildAgentProgram, start: startProgram }

/** Why a program refuses a printed command; undefined: it does not. */
async function refusalOf({ program, words, isLine }: PrintedCommand): Promise<string | undefined> {
  const root = PROGRAMS[program]()
  return isLine ? await refusalOfLine(root, words) : refusalOfSentence(root, words)
}

async function refusalOfLine(root: Command, words: readonly string[]): Promise<string | undefined> {
  for (const command of everyCommand(root)) {
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} })
    if (command.commands.length === 0) command.action(() => {})
  }
  try {
    await root.parseAsync(normalizeArguments(withoutUnknown(root, words)), { from: 'user' })
    return undefined
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? undefined : error.message
  }
}

/** The words, with a command in the place of one that only the running product knows; `…` before flags of the agent is left out. */
function withoutUnknown(root: Command, words: readonly string[]): string[] {
  if (root.commands.length === 0) return words.filter((word) => word !== '…')
  let parent = root
  return words.map((word) => {
    const found = parent.commands.find(
      (one) => (word === '…' && one.registeredArguments.length > 0) || one.name() === word || one.aliases().includes(word),
    )
    if (parent.commands.length === 0 || found === undefined) return word
    parent = found
    return found.name()
  })
}

function refusalOfSentence(root: Command, words: readonly string[]): string | undefined {
  let command = root
  for (const word of words.map((one) => one.replace(/[.,:'"]+$/, ''))) {
    if (word === '--') return undefined
    if (word.startsWith('--')) {
      const name = word.split('=')[0]
      const known = [...command.options, ...root.options].some(({ long }) => long === name) || name === '--help'
      if (!known) return `${command.name()} has no ${name}`
    } else if (command.commands.length > 0 && /^[a-z]/.test(word)) {
      const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
      if (next === undefined) return command === root && ABOUT_THE_PRODUCT.has(word) ? undefined : `${command.name()} has no ${word}`
      command = next
    }
  }
  return undefined
}

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)]

const PRINTED = [
  ...filesOf('src/**/*.{ts,tsx}')
    .filter((file) => !NOT_PRINTED.has(file))
    .flatMap(commandsOfSource),
  ...filesOf('*.md', 'docs/*.md', 'docs/architecture/*.md', 'examples/**/*.md', 'sdk/**/*.md').flatMap(commandsOfDocument),
  ...filesOf('examples/**/*.{toml,py,sh,js,ts}', 'examples/**/Dockerfile', 'ops/**/*.{md,yml,yaml,service,sh}').flatMap(commandsOfFile),
]

describe('[CMD-62] a printed command', () => {
  it('is found wherever people read one', () => {
    const of = (part: string, line: boolean) => PRINTED.filter(({ place, isLine }) => place.startsWith(part) && isLine === line).length
    expect(of('src/console/', true)).toBeGreaterThan(20)
    expect(of('src/cli/', false)).toBeGreaterThan(40)
    expect(of('docs/cli.md', true)).toBeGreaterThan(80)
    expect(of('docs/guide.md', true)).toBeGreaterThan(5)
    expect(of('README.md', true)).toBeGreaterThan(2)
    expect(of('examples/', true)).toBeGreaterThan(4)
    expect(new Set(PRINTED.map(({ program }) => program))).toEqual(new Set(['podplane', 'podplane-agent', 'start']))
  })

  it('is accepted by the program that it names', async () => {
    const refused: string[] = []
    for (const printed of PRINTED) {
      const reason = await refusalOf(printed)
      if (reason !== undefined) refused.push(`${printed.place}: ${printed.program} ${printed.words.join(' ')}: ${reason}`)
    }
    expect(refused).toEqual([])
  })
})

describe('the table of README.md', () => {
  it('has the columns that the program prints', () => {
    const [, heading = ''] = readFileSync('test/local/cli/golden/pods.txt', 'utf8').split('\n')
    const printed = /\$ npx podplane pods list\n(.+)\n/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
    const columns = (line: string) => line.split(/ {2,}/)
    expect(columns(printed)).toEqual(columns(heading))
  })
})

describe('[CMD-63] --yes', () => {
  it('is accepted by every command, whether it asks or not', async () => {
    const leaves = everyCommand(buildProgram()).filter(({ commands }) => commands.length === 0)
    const pathOf = (command: Command): string[] => (command.parent === null ? [] : [...pathOf(command.parent), command.name()])
    const refused: string[] = []
    for (const leaf of leaves.filter((command) => command.name() !== '__complete')) {
      const reason = await refusalOfLine(buildProgram(), [...pathOf(leaf), '--yes'])
      if (reason?.includes('unknown option')) refused.push(`${pathOf(leaf).join(' ')}: ${reason}`)
    }
    expect(leaves.length).toBeGreaterThan(100)
    expect(refused).toEqual([])
  })
})
