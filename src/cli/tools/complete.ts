import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { cachePath, readCache, writeCache } from '../core/cache.ts'
import type { Io } from '../core/io.ts'
import { kindsOf, listOf, type Named } from '../session/names.ts'
import type { Session } from '../session/session.ts'

const BUDGET_MS = 300
const CACHE_MS = 30_000

interface Candidate {
  word: string
  text: string
}

/** Prints completions, one word and description per line; nothing after an error (CMD-8). */
export async function complete(session: Session, program: Command, words: readonly string[]): Promise<void> {
  try {
    const before = words.slice(0, -1)
    const begun = words.at(-1) ?? ''
    const candidates = candidatesFor(program, before, begun) ?? (await idsFor(session, program, before))
    const fitting = candidates.filter(({ word }) => word.startsWith(begun))
    session.out.lines(fitting.map(({ word, text }) => `${word}\t${text}`))
  } catch {
    // An error message would disturb the line that the user completes.
  }
}

/** Commands and flags; undefined if an argument is expected. */
export function candidatesFor(program: Command, before: readonly string[], begun: string): Candidate[] | undefined {
  const { command, args } = commandOf(program, before)
  if (begun.startsWith('-')) {
    const options = [...command.options, ...program.options].filter(({ hidden }) => !hidden)
    return options.map((option) => ({ word: option.long ?? option.short ?? '', text: option.description }))
  }
  if (command.commands.length === 0) return undefined
  if (args.length > 0) return []
  return visible(command).map((one) => ({ word: one.name(), text: one.description() }))
}

function visible(command: Command): Command[] {
  return command.createHelp().visibleCommands(command)
}

/** Command that the words lead to, and the arguments after it. */
function commandOf(program: Command, words: readonly string[]): { command: Command; args: string[] } {
  let command = program
  const args: string[] = []
  for (const word of words) {
    if (word.startsWith('-')) continue
    const child = args.length === 0 ? command.commands.find((one) => one.name() === word || one.aliases().includes(word)) : undefined
    if (child === undefined) args.push(word)
    else command = child
  }
  return { command, args }
}

/** Ids with their names, and names that are unique and need no quotes. */
function candidatesOf(things: readonly Named[]): Candidate[] {
  const plain = things.filter(({ name }) => /^[\w.-]+$/.test(name) && things.filter((other) => other.name === name).length === 1)
  return [...things.map(({ id, name }) => ({ word: id, text: name })), ...plain.map(({ id, name }) => ({ word: name, text: id }))]
}

/** Ids and names from the API, within `BUDGET_MS`; cached for `CACHE_MS`. */
async function idsFor(session: Session, program: Command, before: readonly string[]): Promise<Candidate[]> {
  const { command, args } = commandOf(program, before)
  const expected = command.registeredArguments
  const argument = expected[Math.min(args.length, expected.length - 1)]
  const kinds = argument === undefined ? undefined : kindsOf(argument.name())
  if (argument === undefined || kinds === undefined) return []
  const path = cacheOf(session.io, `${session.target.url} ${session.key} ${argument.name()}`)
  const cached = fresh(readCache(path), session.io.nowMs())
  if (cached !== undefined) return cached
  const found = await Promise.race([
    listOf(session, kinds).then(candidatesOf),
    new Promise<Candidate[]>((resolve) => setTimeout(resolve, BUDGET_MS, [])),
  ])
  if (found.length > 0) writeCache(path, { atMs: session.io.nowMs(), candidates: found })
  return found
}

/** The file name is a hash, so that it reveals neither plane nor key. */
function cacheOf(io: Io, what: string): string {
  return cachePath(io, createHash('sha256').update(what).digest('hex').slice(0, 32))
}

function fresh(kept: unknown, nowMs: number): Candidate[] | undefined {
  const { atMs, candidates } = (kept ?? {}) as { atMs?: number; candidates?: Candidate[] }
  return atMs === undefined || Math.abs(nowMs - atMs) > CACHE_MS ? undefined : candidates
}
