import type { Argument, Command, Option } from 'commander'
import { EXIT_CODES } from './core/exit-codes.ts'
import { buildProgram } from './program.ts'

const HEAD = `# The command line

\`podplane\` is the command line of the API. After \`npm start\` it needs no configuration in the same directory:

\`\`\`sh not run: it is for reading
npx podplane pods list
npx podplane pods create --image builtin/idle --cpu cpu3c --wait
\`\`\`

The program is one file without dependencies, \`dist/podplane.mjs\`. To call it \`podplane\` in every directory,
copy it into a directory of your \`PATH\` under that name; outside of this repository \`npx podplane\` is not this
program. \`npm run generate\` generates this page from the program.

## Plane and key

The program takes the plane and the key from the first of these sources that exists:

1. \`--url\` or \`--context\`
2. \`PODPLANE_URL\`, or \`PODPLANE_CONTEXT\`; the key is \`PODPLANE_API_KEY\`
3. the context in use: \`~/.config/podplane/config.toml\`, with keys in \`credentials.json\` beside it, mode 0600
4. the plane that \`npm start\` runs in this directory or in a directory above: \`.podplane/demo.json\`

The program sends a key only to the address that the key belongs to, and never takes a key from the command
line. It does not read the variables of other platforms; \`podplane env\` prints them for other programs.

\`\`\`toml
# ~/.config/podplane/config.toml
current = "lab"

[contexts.lab]
url = "https://lab.example.com"
\`\`\`

## Names and ids

- A command that takes a pod, an endpoint, a template, a volume, a cluster, a registry, a secret, an
  organization or a host accepts an id or a name.
- An id takes precedence over a name. If several resources have the name, the command fails with exit code 2
  and lists their ids.
- If no resource matches, the command fails with exit code 4 and lists similar names.

## Output

- stdout carries data; stderr carries messages.
- On a terminal: tables, relative times, color unless \`NO_COLOR\` is set.
- Piped: tab-separated values without a heading, exact times, no truncation.
- \`--json\`: the JSON of the API. \`--json id,gpu.id\` after a command: only these fields. Streams are one
  object per line.
- \`-q\`: only ids.
- With \`--json\` an error is one object on stderr: \`detail\`, \`code\`, \`retryable\`, \`retryAfter\` (seconds),
  \`requestId\`, \`exitCode\`, and \`resource\` if a resource exists that may be billed.
- The program asks no question without a terminal, with \`--no-input\`, or if \`CI\` is set: destructive commands
  then need \`--yes\`.

## Exit codes
`

const MANIFEST = `## podplane.toml

\`podplane deploy\` creates or changes the resources that this file declares. The tables are \`volumes\`,
\`templates\`, \`endpoints\` and \`pods\`, each with one table per resource name. The fields are those of the create
requests of the [API](openapi-v2.json).

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

- \`volumes.models\` and \`templates.base\` stand for the ids of resources that the file declares.
- \`\${NAME}\` is an environment variable, \`\${NAME:-default}\` one with a default, and \`$\${\` is a literal \`\${\`.
- \`deploy\` creates missing resources, changes resources that differ, and leaves undeclared resources alone.
- \`--plan\` shows each change and its cost: for a pod the result of a dry run, for an endpoint the cost of all
  its workers.
- \`deploy\` refuses a change that is not possible, such as another GPU for a pod, before it changes anything.
- A deploy that fails halfway lists the resources that it has created. Run it again to continue.

\`podplane dev\` is for development. It builds the image of the directory with Docker, deploys it to a separate
endpoint, \`chat-dev\`, in the plane of this machine, runs the smoke job, and follows the log. It repeats this
whenever a saved file changes the image. \`IMAGE\` need not be set for it.
`

/** Text of docs/cli.md, generated from the help of the program (DEV-3). */
export function cliDocument(): string {
  const program = buildProgram(true)
  const codes = ['| Code | Meaning |', '|---|---|', ...EXIT_CODES.map(({ code, meaning }) => `| ${code} | ${meaning} |`)]
  const parts = [
    HEAD,
    `${codes.join('\n')}\n`,
    '`exec` and `ssh` exit with the exit code of the command in the pod.\n',
    MANIFEST,
    '## Flags of every command\n',
  ]
  parts.push(`${optionLines(program.options).join('\n')}\n`, '## Commands\n')
  for (const command of program.createHelp().visibleCommands(program)) parts.push(...describe(command, 3))
  return `${parts.join('\n').trimEnd()}\n`
}

function describe(command: Command, depth: number): string[] {
  const path = pathOf(command)
  // Commander adds a command `help` to each noun; one entry at the end of the document describes it.
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
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
