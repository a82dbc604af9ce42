import { type Command, InvalidArgumentError } from 'commander'
import { parseDurationMs } from './durations.ts'
import type { Globals, Io } from './io.ts'
import type { Session } from './session.ts'

/** What belongs to one run of the program. */
export interface Run {
  io: Io
  signal: AbortSignal
  /** Of the command that ran. */
  exitCode: number
  /** Ends the run once this time is over. */
  limitMs(timeoutMs: number): void
}

const runs = new WeakMap<Command, Run>()

export function bindRun(program: Command, run: Run): void {
  runs.set(program, run)
}

/**
 * Says what a command does. What it works with is loaded when it runs, so that help is fast. An action may answer an exit code. Those of waits
 * look at `--timeout` themselves, because they know what has been made meanwhile.
 */
export function act<Options extends object>(
  command: Command,
  action: (session: Session, options: Options, ...args: string[]) => Promise<unknown>,
  { waits = false }: { waits?: boolean } = {},
): Command {
  return command.action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command
    const args = given.slice(0, -2) as string[]
    const run = runOf(self)
    const { Session: SessionOfRun } = await import('./session.ts')
    const globals = self.optsWithGlobals<Globals & Options>()
    const session = new SessionOfRun(run.io, globals, run.signal)
    if (globals.timeout !== undefined && !waits) run.limitMs(globals.timeout)
    try {
      const code = await action(session, globals, ...args)
      run.exitCode = typeof code === 'number' ? code : 0
    } finally {
      session.out.endProgress()
    }
  })
}

export function runOf(command: Command): Run {
  const run = runs.get(rootOf(command))
  if (run === undefined) throw new Error('the program is not bound to a run')
  return run
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

/** A command for a noun, with the words that mean the same. */
export function noun(program: Command, name: string, aliases: readonly string[], description: string): Command {
  const command = program.command(name).description(description)
  for (const alias of aliases) command.alias(alias)
  return command
}

export function examples(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ podplane ${line}`).join('\n')}`)
}

/** Collects a flag that may be given again and again. */
export function collect(value: string, former: string[] = []): string[] {
  return [...former, value]
}

export function duration(value: string): number {
  const ms = parseDurationMs(value)
  if (ms === undefined) throw new InvalidArgumentError('it must be a duration such as 90s, 10m or 2h')
  return ms
}

export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('it must be a whole number')
  return Number(value)
}
