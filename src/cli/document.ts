import type { Argument, Command, Option } from 'commander'
import { EXIT_CODES } from './core/exit-codes.ts'
import { buildProgram } from './program.ts'

const HEAD = `# The command line

\`podplane\` does from a shell what the API does. After \`npm start\`, in the same directory and without any
configuration:

\`\`\`sh not run: it is for reading
npx podplane pods list
npx podplane pods create --image builtin/idle --cpu cpu3c --wait
\`\`\`

It is one file without dependencies, \`dist/podplane.mjs\`. This page is made from the program by
\`npm run generate\`.

## Which plane, and as whom

In this order:

1. \`--url\` or \`--context\`
2. \`PODPLANE_URL\`, or \`PODPLANE_CONTEXT\`; the key is \`PODPLANE_API_KEY\`
3. the context in use: \`~/.config/podplane/config.toml\`, with keys in \`credentials.json\` beside it, mode 0600
4. the plane that \`npm start\` runs here or in a directory above: \`.podplane/demo.json\`

A key is sent to its own address alone, and never stands on a command line. Variables of other platforms are
not read; \`podplane env\` prints them for their programs.

\`\`\`toml
# ~/.config/podplane/config.toml
current = "lab"

[contexts.lab]
url = "https://lab.example.com"
\`\`\`

## Names and ids

- Where a command takes a pod, an endpoint, a template, a volume, a cluster, a registry, a secret, an
  organization or a host, it takes its id or its name.
- An id goes before a name. A name that several have is refused with their ids, exit code 2.
- Where there is none, exit code 4 comes with the nearest names.

## What it prints

- stdout is data, stderr is talk.
- On a terminal: tables, relative times, colour unless \`NO_COLOR\` is set.
- Piped: tab-separated values without a heading, exact times, nothing cut.
- \`--json\`: the JSON of the API. \`--json id,gpu.id\` behind a command: these members. Streams are an object a
  line.
- \`-q\`: ids.
- With \`--json\` an error is one object on stderr: \`detail\`, \`code\`, \`retryable\`, \`retryAfter\` (seconds),
  \`requestId\`, \`exitCode\`, and \`resource\` where something exists that may be billed.
- No question is asked without a terminal, with \`--no-input\`, or where \`CI\` is set: what destroys needs
  \`--yes\`.

## Exit codes
`

const MANIFEST = `## podplane.toml

\`podplane deploy\` makes what this file declares. Tables are \`volumes\`, \`templates\`, \`endpoints\` and \`pods\`,
each by its name; their members are those of the create requests of the [API](openapi-v2.json).

\`\`\`toml
[volumes.models]
size = 50
dataCenter = "EU-RO-1"

[endpoints.chat]
image = "\${REGISTRY:-registry.example.com}/chat:1"
gpu = { pools = ["ADA_24"], count = 1 }
workers = { min = 0, max = 3, idleTimeout = 30 }
networkVolumes = ["volumes.models"]
env = { MODEL = "small" }

# A job that has to be COMPLETED before \`deploy --wait\` ends.
[endpoints.chat.smoke]
input = { prompt = "Hello" }
timeout = "5m"

[pods.notebook]
image = "docker.io/library/python:3.13"
cpu = { id = "cpu3c", vcpuCount = 2 }
ports = ["8888/http"]
startSsh = true
\`\`\`

- \`volumes.models\` and \`templates.base\` stand for the ids of what the file declares.
- \`\${NAME}\` is a variable of the environment, \`\${NAME:-default}\` one that may be missing, \`$\${\` is \`\${\`.
- What is missing is created, what differs is changed, what is not declared is left alone.
- \`--plan\` shows each change and what it costs: of a pod by a dry run, of an endpoint with all its workers.
- What cannot be changed, such as the GPU of a pod, is refused before anything is done.
- A deploy that fails in between says what it has made. Run it again: it goes on there.

\`podplane dev\` is for the time before. It builds the image of the directory with Docker, gives it to an
endpoint of its own, \`chat-dev\`, in the plane of this machine, runs the smoke job, and follows the log.
Whenever a saved file makes another image, it does so again. \`IMAGE\` need not be set for it.
`

/** Text of docs/cli.md, generated from the help of the program (CL-44). */
export function cliDocument(): string {
  const program = buildProgram(true)
  const codes = ['| Code | Meaning |', '|---|---|', ...EXIT_CODES.map(({ code, meaning }) => `| ${code} | ${meaning} |`)]
  const parts = [
    HEAD,
    `${codes.join('\n')}\n`,
    '`exec` and `ssh` pass on the exit code of what ran in the pod.\n',
    MANIFEST,
    '## Flags of every command\n',
  ]
  parts.push(`${optionLines(program.options).join('\n')}\n`, '## Commands\n')
  for (const command of program.createHelp().visibleCommands(program)) parts.push(...describe(command, 3))
  return `${parts.join('\n').trimEnd()}\n`
}

function describe(command: Command, depth: number): string[] {
  const path = pathOf(command)
  const children = command.createHelp().visibleCommands(command)
  const aliases =
    command.aliases().length === 0
      ? ''
      : ` Also: ${command
          .aliases()
          .map((alias) => `\`${alias}\``)
          .join(', ')}.`
  const text = `${sentence(command.description())}${aliases}\n`
  if (children.length > 0)
    return [`${'#'.repeat(depth)} podplane ${path}\n`, text, ...children.flatMap((child) => describe(child, Math.min(depth + 1, 4)))]
  const usage = [
    'podplane',
    path,
    ...command.registeredArguments.map(argumentText),
    ...(command.options.length === 0 ? [] : ['[flags]']),
  ].join(' ')
  const options = optionLines(command.options)
  return [`${'#'.repeat(depth)} \`${usage}\`\n`, text, ...(options.length === 0 ? [] : [`${options.join('\n')}\n`]), ...examplesOf(command)]
}

function pathOf(command: Command): string {
  const parent = command.parent
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function optionLines(options: readonly Option[]): string[] {
  return options.filter(({ hidden }) => !hidden).map((option) => wrap(`- \`${option.flags}\`: ${option.description}${defaultText(option)}`))
}

function defaultText(option: Option): string {
  // Commander does not type the default value.
  const defaultValue: unknown = option.defaultValue
  return typeof defaultValue === 'string' || typeof defaultValue === 'number' ? ` (default: \`${defaultValue}\`)` : ''
}

const COLUMNS = 110

/** Wraps the lines of a list item at the width of the other documents. */
function wrap(text: string): string {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + word.length + 1 > COLUMNS) lines.push(`  ${word}`)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}

function sentence(text: string): string {
  return wrap(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`).replaceAll('\n  ', '\n')
}

/** Examples in the help of a command, which also serve the document. */
function examplesOf(command: Command): string[] {
  let shown = ''
  command.configureOutput({ writeOut: (text) => (shown += text) })
  command.outputHelp()
  const lines = [...shown.matchAll(/^ {2}\$ (.+)$/gm)].map((match) => String(match[1]))
  return lines.length === 0 ? [] : [`\`\`\`sh not run: it is for reading\n${lines.join('\n')}\n\`\`\`\n`]
}
