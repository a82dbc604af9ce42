import { type Command, InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../core/durations.ts'
import type { Globals, Io } from '../core/io.ts'
import type { Session } from './session.ts'

/** State of one run of the program. */
export interface Run {
  io: Io
  signal: AbortSignal
  /** Exit code of the command. */
  exitCode: number
  /** Running command; undefined before it starts. */
  command?: Command
  /** Aborts the run with a reason. */
  end(reason: Error): void
  /** Aborts the run after this time. */
  limitMs(timeoutMs: number): void
}

const runs = new WeakMap<Command, Run>()

/** Binds a program to the run that carries out its commands. */
export function bindRun(program: Command, run: Run): void {
  runs.set(program, run)
}

/**
 * Sets the action of a command. Its dependencies are loaded when it runs, so that help is fast. An action may return an exit code. Actions
 * that wait (`waits`) handle `--timeout` themselves, because they know which resource exists meanwhile.
 */
export function act<Options extends object>(
  command: Command,
  action: Action<Options>,
  { waits = false }: { waits?: boolean } = {},
): Command {
  return command.action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command
    const args = given.slice(0, -2)
    const run = runOf(self)
    const { Session: SessionOfRun } = await import('./session.ts')
    const globals = self.optsWithGlobals<Globals & Options>()
    const session = new SessionOfRun(run.io, globals, run)
    if (globals.timeout !== undefined && !waits) run.limitMs(globals.timeout)
    try {
      const code = await withIds(session, self, globals, args, action)
      session.printer?.finish()
      run.exitCode = typeof code === 'number' ? code : 0
    } finally {
      session.out.endProgress()
      if (session.planeVersion !== undefined && session.isInteractive) (await import('./skew.ts')).warnOfSkew(session, session.planeVersion)
    }
  })
}

/**
 * Sets the action of a command to a function that is loaded when the command runs. The function takes the words of the command and then its
 * options.
 */
export function actLater<Given extends unknown[]>(
  command: Command,
  load: () => Promise<(session: Session, ...given: Given) => unknown>,
  waits?: { waits: boolean },
): Command {
  // The declaration of the command names its words and options; its library does not type them.
  const action: Action<object> = async (session, options, ...words) => (await load())(session, ...([...words, options] as unknown as Given))
  return act(command, action, waits)
}

type Action<Options> = (session: Session, options: Options, ...args: string[]) => Promise<unknown>

/**
 * Runs an action with names resolved to ids (CMD-17). If the plane does not find an id, the text may be a name that looks like one, and the
 * action runs again.
 */
async function withIds<Options extends object>(
  session: Session,
  command: Command,
  options: Options,
  args: readonly unknown[],
  action: Action<Options>,
): Promise<unknown> {
  const takesNone = command.registeredArguments.length === 0 && command.options.length === 0
  if (takesNone) return await action(session, options)
  const { Names } = await import('./names.ts')
  const run = async (names: InstanceType<typeof Names>) =>
    [await names.ofOptions(command, options), ...(await names.ofArguments(command, args))] as const
  const [ofOptions, ...ofArguments] = await run(new Names(session, false))
  session.printer?.reset()
  try {
    return await action(session, ofOptions as Options, ...(ofArguments as string[]))
  } catch (error) {
    if (!session.mayRepeat(error)) throw error
    const [others, ...again] = await run(new Names(session, true))
    session.printer?.reset()
    const isSame = JSON.stringify([others, again]) === JSON.stringify([ofOptions, ofArguments])
    if (isSame) throw error
    return await action(session, others as Options, ...(again as string[]))
  }
}

/** Returns the run of a command's program. Throws an error if the program is not bound to one. */
export function runOf(command: Command): Run {
  const run = runs.get(rootOf(command))
  if (run === undefined) throw new Error('the program is not bound to a run')
  return run
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

/** Adds a command for a noun with its aliases. */
export function noun(program: Command, name: string, aliases: readonly string[], description: string): Command {
  const command = program.command(name).description(description)
  for (const alias of aliases) command.alias(alias)
  return command
}

/** Adds examples to the help of a command; each line follows `podplane`. */
export function examples(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ podplane ${line}`).join('\n')}`)
}

/** Adds `--plan` to a command whose operation supports a dry run. */
export function plannable(command: Command): Command {
  return command.option('--plan', 'show the effects of the change without making it')
}

/** Prints the plan of one change; the code for it is loaded on demand. */
export async function planOne(session: Session, ask: (query: { dryRun: true }) => Promise<unknown>): Promise<number> {
  return (await import('./change-plan.ts')).planEach(session, [''], (_, query) => ask(query))
}

/** Collects the values of a repeatable flag. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}

/** Parses a duration flag such as `90s` and returns milliseconds. Throws `InvalidArgumentError` for other text. */
export function duration(value: string): number {
  const ms = parseDurationMs(value)
  if (ms === undefined) throw new InvalidArgumentError('it must be a duration such as 90s, 10m or 2h')
  return ms
}

/** Parses a flag that is a whole number from 0. Throws `InvalidArgumentError` for other text. */
export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('it must be a whole number')
  return Number(value)
}
