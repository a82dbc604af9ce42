import { type Command, CommanderError } from 'commander'
import { ApiError } from '../client/errors.ts'
import { findLocalPlane } from './config/local-plane.ts'
import { normalizeArguments } from './core/arguments.ts'
import { formatDuration } from './core/durations.ts'
import { EXIT } from './core/exit-codes.ts'
import { failureOf, Interrupted, TimedOut, usage } from './core/failure.ts'
import type { Io } from './core/io.ts'
import { buildProgram } from './program.ts'
import { bindRun, type Run } from './session/act.ts'

/** Runs one command line and resolves to its exit code (CMD-2). */
export async function runPodplane(argv: readonly string[], io: Io, interrupted?: AbortSignal): Promise<number> {
  const args = normalizeArguments(argv)
  const ended = new AbortController()
  const onInterrupt = () => ended.abort(new Interrupted('interrupted'))
  interrupted?.addEventListener('abort', onInterrupt, { once: true })
  let timer: NodeJS.Timeout | undefined
  const run: Run = {
    io,
    signal: ended.signal,
    exitCode: EXIT.OK,
    end: (reason) => ended.abort(reason),
    limitMs(timeoutMs) {
      timer = setTimeout(() => ended.abort(new TimedOut(`not done within ${formatDuration(timeoutMs)}`)), timeoutMs)
    },
  }
  let unsaid = ''
  const program = buildProgram(Boolean(io.env.PODPLANE_OPERATOR_KEY) || findLocalPlane(io) !== undefined)
  bindRun(program, run)
  program.configureOutput({
    writeOut: (text) => io.stdout.write(text),
    // Errors are printed once, below; the text here is the help of a noun without a verb.
    writeErr: (text) => {
      unsaid += text
    },
    getOutHelpWidth: () => io.stdout.columns || 100,
  })
  for (const command of everyCommand(program)) command.copyInheritedSettings(program)
  program.hook('preAction', (_, command) => {
    run.command = command
  })
  try {
    await orAborted(program.parseAsync([...args], { from: 'user' }), ended.signal)
    return run.exitCode
  } catch (error) {
    if (error instanceof Error && error.name === 'Printed') return EXIT.OK
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.OK
    if (error instanceof CommanderError && error.code === 'commander.help') {
      io.stderr.write(unsaid)
      return EXIT.USAGE
    }
    return reportError(error instanceof CommanderError ? misuse(error, program, args) : error, args, run)
  } finally {
    clearTimeout(timer)
    interrupted?.removeEventListener('abort', onInterrupt)
  }
}

function everyCommand(program: Command): Command[] {
  return program.commands.flatMap((command) => [command, ...everyCommand(command)])
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  return await Promise.race([work, aborted])
}

/** Usage error for arguments that the parser rejects, with the command whose help explains them. */
function misuse(error: CommanderError, program: Command, args: readonly string[]): Error {
  return usage(error.message.replace(/^error: /, ''), `see ${nameOf(program, args)} --help`)
}

/** Name of the command in the arguments, as far as one matches; values of options may stand between its words. */
function nameOf(command: Command, args: readonly string[]): string {
  for (const [index, word] of args.entries()) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next !== undefined) return `${command.name()} ${nameOf(next, args.slice(index + 1))}`
  }
  return command.name()
}

/** Prints an error: one object with `--json`, else a sentence and the next step (CMD-3). */
function reportError(error: unknown, args: readonly string[], { io, command }: Run): number {
  const { hint = command && nextStep(command, error), ...known } = failureOf(error)
  const failure = { ...known, detail: command && error instanceof ApiError ? withName(command, known.detail) : known.detail }
  if (args.some((word) => word === '--json' || word.startsWith('--json='))) {
    io.stderr.write(`${JSON.stringify(failure)}\n`)
    return failure.exitCode
  }
  const id = failure.requestId === undefined ? '' : ` (request ${failure.requestId})`
  io.stderr.write(`error: ${failure.detail}${id}\n`)
  if (failure.resource !== undefined) io.stderr.write(`  ${failure.resource} exists and may be billed\n`)
  if (hint !== undefined) io.stderr.write(`  ${hint}\n`)
  if (args.includes('--debug') && error instanceof Error) io.stderr.write(`${error.stack ?? ''}\n`)
  return failure.exitCode
}

/** The plane's answer to an unknown id does not contain the id, so the arguments are added. */
function withName({ args }: Command, detail: string): string {
  return detail === 'resource not found' && args.length > 0 ? `${detail}: ${args.join(' ')}` : detail
}

/** Next step: the command that lists the ids, or the help of the command. */
function nextStep(command: Command, error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const noun = command.parent
  if (error.status === 404 && noun?.commands.some((one) => one.name() === 'list' && one.registeredArguments.length === 0))
    return `${pathOf(noun)} list shows the existing ones`
  return error.status === 422 ? `see ${pathOf(command)} --help` : undefined
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
