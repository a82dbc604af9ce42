import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const CONNECT_TIMEOUT_SECONDS = 10

const runFile = promisify(execFile)

/** The user's side of SSH: the real client with a key pair and a list of known hosts of its own. */
export class SshClient {
  readonly publicKey: string
  private readonly directory: string

  private constructor(directory: string) {
    this.directory = directory
    this.publicKey = readFileSync(join(directory, 'key.pub'), 'utf8').trim()
  }

  static async create(): Promise<SshClient> {
    const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-ssh-'))
    await runFile('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'tests@podplane', '-f', join(directory, 'key')])
    return new SshClient(directory)
  }

  /** Runs the `ssh` invocation that a pod shows, with this client's key, and a command on the other side. */
  async run(invocation: string, command: string): Promise<string> {
    const [program = '', ...args] = invocation.split(' ')
    if (program !== 'ssh') throw new Error(`not an ssh invocation: ${invocation}`)
    const { stdout } = await runFile(program, [...this.options(), ...args, command])
    return stdout.trim()
  }

  /** Copies a file to the other side with scp. */
  async copy(file: string, { host, port, username }: { host: string; port: number; username: string }, target: string): Promise<void> {
    await runFile('scp', [...this.options(), '-P', String(port), file, `${username}@${host}:${target}`])
  }

  /** The output of a command for an input. */
  async pipe(invocation: string, command: string, input: Buffer): Promise<Buffer> {
    const child = spawn('ssh', [...this.options(), ...invocation.split(' ').slice(1), command], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(input)
    const pieces: Buffer[] = []
    for await (const piece of child.stdout) pieces.push(piece as Buffer)
    return Buffer.concat(pieces)
  }

  /** A shell with a terminal. */
  shell(invocation: string): { type(text: string): void; text(): string; kill(): void; ended: Promise<unknown> } {
    const child = spawn('ssh', ['-tt', ...this.options(), ...invocation.split(' ').slice(1)], { stdio: ['pipe', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece: Buffer) => {
        text += piece
      })
    }
    return {
      type: (line) => void child.stdin.write(line),
      text: () => text,
      kill: () => void child.kill('SIGKILL'),
      ended: new Promise((resolve) => child.once('close', resolve)),
    }
  }

  /** Forwards ports of this machine, each `<port>:<host>:<port>`. */
  forward(invocation: string, forwards: readonly string[]): { kill(): void } {
    const flags = forwards.flatMap((one) => ['-L', `127.0.0.1:${one}`])
    const child = spawn('ssh', ['-N', ...flags, ...this.options(), ...invocation.split(' ').slice(1)], { stdio: 'ignore' })
    return { kill: () => void child.kill() }
  }

  /** Copies to the other side with scp; the last arguments are flags and files. */
  async scp(
    args: readonly string[],
    { host, port, username }: { host: string; port: number; username: string },
    target: string,
  ): Promise<void> {
    await runFile('scp', [...this.options(), '-P', String(port), ...args, `${username}@${host}:${target}`])
  }

  /** Copies from the other side with scp. */
  async fetch({ host, port, username }: { host: string; port: number; username: string }, source: string, file: string): Promise<void> {
    await runFile('scp', [...this.options(), '-P', String(port), `${username}@${host}:${source}`, file])
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  private options(): string[] {
    const settings = {
      BatchMode: 'yes',
      ConnectTimeout: String(CONNECT_TIMEOUT_SECONDS),
      IdentitiesOnly: 'yes',
      IdentityFile: join(this.directory, 'key'),
      StrictHostKeyChecking: 'accept-new',
      UserKnownHostsFile: join(this.directory, 'known_hosts'),
    }
    return ['-F', 'none', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
  }
}
