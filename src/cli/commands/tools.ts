import type { Command } from 'commander'
import { CLI_VERSION } from '../core/version.ts'
import { act, examples } from '../session/act.ts'

/** Adds the commands that belong to no noun. */
export function addTools(program: Command): void {
  const env = program
    .command('env')
    .description('lines for a shell or a file that point other programs to this plane')
    .requiredOption('--for <program>', 'runpodctl, python, js, flash, terraform, mcp or openai')
    .option('--endpoint <endpoint>', 'the endpoint that openai speaks to')
  act(env, async (session, flags: { for: string; endpoint?: string }) => (await import('../tools/env.ts')).printEnv(session, flags))
  examples(env, 'env --for python', 'env --for openai --endpoint <endpoint>', 'env --for mcp > mcp.json')
  const doctor = program
    .command('doctor')
    .description('look for what is wrong between here and the plane; exit code 1 when something is')
    .option('--bundle <file>', 'also write what was seen into a .tar.gz for a helper; keys are taken out')
  act(doctor, async (session, flags: { bundle?: string }) => await (await import('../tools/doctor.ts')).runDoctor(session, flags))
  examples(doctor, 'doctor', 'doctor --json', 'doctor --bundle podplane.tar.gz')
  const api = program
    .command('api <method> <path>')
    .description('any request to the plane, with the key that is used')
    .option('--body <json>', 'JSON, @file, or - for stdin')
    .option('--operator', 'with the operator key')
  act(
    api,
    async (session, flags: { body?: string; operator?: boolean }, method: string, path: string) =>
      await (await import('../tools/api.ts')).callApi(session, method, path, flags),
  )
  examples(api, 'api GET /v2/pods', `api POST /v2/pods --body '{"name":"box","image":"builtin/idle","cpu":{"id":"cpu3c","vcpuCount":2}}'`)
  act(program.command('version').description('print the version of this program'), async (session) => {
    session.out.record({ version: CLI_VERSION, node: process.versions.node })
  })
  const completion = program
    .command('completion <shell>')
    .description('print what a shell completes commands and ids with: bash, zsh, fish or powershell')
  act(completion, async (session, _options, shell: string) => (await import('../tools/completion.ts')).printCompletion(session, shell))
  examples(
    completion,
    'completion bash > ~/.local/share/bash-completion/completions/podplane',
    'completion zsh > "${fpath[1]}/_podplane"',
    'completion fish > ~/.config/fish/completions/podplane.fish',
    'completion powershell >> $PROFILE',
  )
  const complete = program.command('__complete [words...]', { hidden: true }).description('what could stand at the end of a line')
  act(
    complete,
    async (session, _options, ...words) => await (await import('../tools/complete.ts')).complete(session, program, words.flat()),
  )
}
