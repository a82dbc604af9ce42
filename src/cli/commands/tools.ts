import type { Command } from 'commander'
import { CLI_VERSION } from '../core/version.ts'
import { act, actLater, examples } from '../session/act.ts'

/** Adds the commands that belong to no noun. */
export function addTools(program: Command): void {
  const env = program
    .command('env')
    .description('print environment variables or configuration that point other programs to this plane')
    .requiredOption('--for <program>', 'program to configure: runpodctl, python, js, flash, terraform, mcp or openai')
    .option('--endpoint <endpoint>', 'endpoint that openai requests go to')
  actLater(env, async () => (await import('../tools/env.ts')).printEnv)
  examples(env, 'env --for python', 'env --for openai --endpoint <endpoint>', 'env --for mcp > mcp.json')
  const doctor = program
    .command('doctor')
    .description('check everything between this machine and the plane; exit code 1 if a check fails')
    .option('--bundle <file>', 'also write the results to a .tar.gz for support; keys are removed')
  actLater(doctor, async () => (await import('../tools/doctor.ts')).runDoctor)
  examples(doctor, 'doctor', 'doctor --json', 'doctor --bundle podplane.tar.gz')
  const api = program
    .command('api <method> <path>')
    .description('send any request to the plane, with the key in use')
    .option('--body <json>', 'body of the request: JSON, @file, or - for stdin')
    .option('--operator', 'use the operator key')
  actLater(api, async () => (await import('../tools/api.ts')).callApi)
  examples(api, 'api GET /v2/pods', `api POST /v2/pods --body '{"name":"box","image":"builtin/idle","cpu":{"id":"cpu3c","vcpuCount":2}}'`)
  act(program.command('version').description('print the version of this program'), async (session) => {
    session.out.record({ version: CLI_VERSION, node: process.versions.node })
  })
  const completion = program
    .command('completion <shell>')
    .description('print the completion script for a shell: bash, zsh, fish or powershell')
  actLater(completion, async () => (await import('../tools/completion.ts')).printCompletion)
  examples(
    completion,
    'completion bash > ~/.local/share/bash-completion/completions/podplane',
    'completion zsh > "${fpath[1]}/_podplane"',
    'completion fish > ~/.config/fish/completions/podplane.fish',
    'completion powershell >> $PROFILE',
  )
  const complete = program
    .command('__complete [words...]', { hidden: true })
    .description('print the possible completions of a command line')
  act(
    complete,
    async (session, _options, ...words) => await (await import('../tools/complete.ts')).complete(session, program, words.flat()),
  )
}
