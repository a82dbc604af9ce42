import { Command, Option } from 'commander'
import { addAccount } from './commands/account.ts'
import { addAuth } from './commands/auth.ts'
import { addClusters } from './commands/clusters.ts'
import { addDeploy } from './commands/deploy.ts'
import { addEndpoints } from './commands/endpoints.ts'
import { addIngress } from './commands/ingress.ts'
import { addJobs } from './commands/jobs.ts'
import { addLogs } from './commands/logs.ts'
import { addOperator } from './commands/operator.ts'
import { addPods } from './commands/pods.ts'
import { addResources } from './commands/resources.ts'
import { addTeams } from './commands/teams.ts'
import { addTools } from './commands/tools.ts'
import { exitCodesHelp } from './core/exit-codes.ts'
import { CLI_VERSION } from './core/version.ts'
import { duration } from './session/act.ts'

const FIRST_STEPS = `
Examples:
  $ podplane pods list
  $ podplane pods create --image python:3.13 --gpu "NVIDIA L4" --ssh --wait
  $ podplane ssh <pod>
  $ podplane run <endpoint> '{"prompt":"Hello"}'
  $ podplane deploy --plan

podplane help exit-codes lists the meanings of exit codes. Every command has --help with examples.
`

/** Builds the command tree. It loads only what help and flags need. */
export function buildProgram(isOperator = true): Command {
  const program = new Command('podplane')
    .description('Pods and serverless queues with GPUs, from a terminal.')
    .version(CLI_VERSION, '-V, --version', 'print the version of this program')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
  addGlobalOptions(program)
  program.addHelpText('after', FIRST_STEPS)
  addPods(program)
  addEndpoints(program)
  addJobs(program)
  addResources(program)
  addClusters(program)
  addAccount(program)
  addTeams(program)
  addLogs(program)
  addIngress(program)
  addDeploy(program)
  addAuth(program)
  addTools(program)
  addOperator(program, isOperator)
  addHelp(program)
  return program
}

function addGlobalOptions(program: Command): void {
  program
    .option('--context <name>', 'context of config.toml to use (PODPLANE_CONTEXT)')
    .option('--url <url>', 'address of the plane to use (PODPLANE_URL)')
    .addOption(new Option('--json [fields]', 'print the JSON of the API, or only these fields, separated by commas').preset(true))
    .option('-q, --quiet', 'print only ids')
    .option('--no-input', 'ask no question')
    .option('--yes', 'do not ask for confirmation')
    .option('--timeout <duration>', 'give up after this time, such as 90s or 10m', duration)
    .option('--print <form>', 'print the request that would change something instead of sending it; the only form is curl')
    .option('--debug', 'print each request to stderr')
}

function addHelp(program: Command): void {
  program
    .command('help [words...]')
    .description('show the help of a command, or of exit-codes')
    .action((words: string[] = []) => {
      if (words.join(' ') === 'exit-codes') {
        program.configureOutput().writeOut?.(exitCodesHelp())
        return
      }
      const command = words.reduce<Command | undefined>(findChild, program)
      if (command === undefined) program.error(`error: unknown command '${words.join(' ')}'`)
      command.outputHelp()
    })
}

function findChild(parent: Command | undefined, word: string): Command | undefined {
  return parent?.commands.find((child) => child.name() === word || child.aliases().includes(word))
}
