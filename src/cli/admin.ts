import { Command } from 'commander'
import { type ApiClient, ApiError, ConnectionError, createApiClient } from '../client/client.ts'
import { errorText, OperatorError } from '../node/fail.ts'
import { addOperatorCommands } from './commands/operator/operator.ts'
import { printAnswer } from './output.ts'
import { findTarget } from './target.ts'

// `npm run admin -- …`: the operator API from a shell.

const program = new Command('admin')
  .description('Operate a podplane: accounts, keys, quotas, machines.')
  .option('--url <url>', 'the plane (default: the local one); its operator key is read from PODPLANE_OPERATOR_KEY')
  .option('--json', 'print the answer as JSON', false)
  .showHelpAfterError()

addOperatorCommands(program, call, (text) => printAnswer(text, false))

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`${describe(error)}\n`)
  process.exitCode = 1
}

async function call<Answer>(
  send: (api: ApiClient, url: string) => Promise<Answer>,
  isBad: (answer: Answer) => boolean = () => false,
): Promise<void> {
  const { url, json } = program.opts<{ url?: string; json: boolean }>()
  const target = findTarget(url, process.env)
  try {
    const answer = await send(createApiClient(target.url, target.operatorKey), target.url)
    printAnswer(answer, json)
    if (isBad(answer)) process.exitCode = 1
  } catch (error) {
    if (error instanceof ApiError || error instanceof OperatorError) throw error
    throw new OperatorError(`no answer from ${target.url}: ${errorText(error instanceof ConnectionError ? error.cause : error)}`)
  }
}

function describe(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return `${error.message}; check PODPLANE_OPERATOR_KEY`
  if (error instanceof ApiError || error instanceof OperatorError) return error.message
  return (error instanceof Error && error.stack) || errorText(error)
}
