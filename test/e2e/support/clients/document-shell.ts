import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'
import { type CommandBlock, printedPattern, valuesOf } from '../../../support/http/document-blocks.ts'
import { pythonClient } from '../agent/worker-image.ts'
import { eventually, type TestPlane } from '../plane/plane.ts'

const BLOCK_TIMEOUT_MS = 100_000
const run = promisify(execFile)

/** Addresses and paths as documents print them. */
const PRINTED_URLS = ['http://127.0.0.1:8787', 'https://plane.example.com']
const PRINTED_DATA_DIR = '.podplane/'

/** Runs the blocks of one document one after the other, as a reader with one shell does. */
export class DocumentShell {
  private readonly plane: TestPlane
  private readonly directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-document-'))
  private readonly state = join(this.directory, 'state.sh')
  private readonly values: Map<string, string>
  private readonly started: ChildProcess[] = []

  constructor(plane: TestPlane) {
    this.plane = plane
    this.values = new Map([
      ['key', plane.apiKey],
      ['endpoint', plane.endpointId],
      ['operator key', plane.operatorKey],
    ])
    writeFileSync(this.state, '')
    mkdirSync(join(this.directory, 'bin'))
    // Documents show how to make a call; this wrapper also requires its success.
    this.addProgram('curl', '#!/bin/sh\nPATH=${PATH#*:}\nexec curl --fail-with-body "$@"\n')
  }

  /** Runs a block. The expected output in its document gives the placeholders that first occur there their values. */
  async run(block: CommandBlock): Promise<{ output: string; expected: string | undefined }> {
    const expected = block.printed === undefined ? undefined : this.fill(block.printed)
    const output = block.background ? await this.runInBackground(block, expected) : await this.runToItsEnd(block)
    if (expected !== undefined) for (const [name, value] of valuesOf(expected, output)) this.values.set(name, value)
    return { output, expected }
  }

  /** Ends the programs in the background. */
  async stop(): Promise<void> {
    for (const child of this.started) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue
      process.kill(-child.pid, 'SIGTERM')
      await once(child, 'exit')
    }
    rmSync(this.directory, { recursive: true, force: true })
  }

  private async runToItsEnd(block: CommandBlock): Promise<string> {
    const [program, ...args] = await this.commandOf(block)
    const { stdout } = await run(program, args, {
      cwd: cwdOf(args.at(-1) ?? ''),
      env: this.environment(),
      timeout: BLOCK_TIMEOUT_MS,
    }).catch((error: { stdout?: string; stderr?: string; message: string }) => {
      throw new Error(`${block.place}: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`)
    })
    return stdout
  }

  private async runInBackground(block: CommandBlock, expected: string | undefined): Promise<string> {
    if (expected === undefined) throw new Error(`${block.place}: without anything it prints nobody knows when it is ready`)
    const [program, ...args] = await this.commandOf(block)
    const child = spawn(program, args, {
      cwd: cwdOf(args.at(-1) ?? ''),
      env: this.environment(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.started.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk
      })
    }
    await eventually(`${block.place} prints what it should`, BLOCK_TIMEOUT_MS, async () => printedPattern(expected).test(output)).catch(
      (error) => {
        throw new Error(`${error instanceof Error ? error.message : String(error)}\n${output}`)
      },
    )
    return output
  }

  private async commandOf({ language, text, background }: CommandBlock): Promise<[string, ...string[]]> {
    const filled = this.fill(text)
    if (language === 'js') return ['node', '--input-type=module', '--eval', filled]
    if (language === 'python') return [await pythonClient(), '-c', filled]
    // Variables of one block exist in the next one.
    const keep = background ? '' : `\nexport -p >'${this.state}'`
    return ['bash', '-c', `set -a -e -o pipefail; . '${this.state}'\n${filled}${keep}`]
  }

  private fill(text: string): string {
    const placed = PRINTED_URLS.reduce((before, url) => before.replaceAll(url, this.plane.url), text)
    const located = placed.replaceAll(PRINTED_DATA_DIR, `${this.plane.dataDir}/`)
    return located.replace(/<([a-z ]+)>/g, (placeholder, name: string) => this.values.get(name) ?? placeholder)
  }

  // A home directory of its own: agents and SDKs store files there.
  private environment(): NodeJS.ProcessEnv {
    const path = [join(this.directory, 'bin'), join(PROJECT_ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter)
    return { PATH: path, HOME: this.directory, PODPLANE_DATA: this.plane.dataDir, NO_COLOR: '1' }
  }

  private addProgram(name: string, text: string): void {
    const path = join(this.directory, 'bin', name)
    writeFileSync(path, text)
    chmodSync(path, 0o755)
  }
}

/** Published clients are packages of their tests alone: a script that imports one runs there, others at the root as a reader's do. */
function cwdOf(script: string): string {
  return /^import .* from '(?!node:|\.)/m.test(script) ? join(PROJECT_ROOT, 'test/e2e/clients') : PROJECT_ROOT
}
